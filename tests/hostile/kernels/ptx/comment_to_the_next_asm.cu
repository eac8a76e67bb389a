// task: vector_add expect: ok|rejected|compile_error|runtime_fault|wrong_result
// A comment from one asm statement to the next: what stands between them is gone, and with it whatever the compiler
// put there for later.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
__global__ void kern(const float* a, const float* b, float* out, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  asm volatile("/* from here" ::: "memory");
  if (i < n) ((volatile float*)out)[i] = 7.0f;
  asm volatile("to here */" ::: "memory");
  if (i < n) out[i] = a[i] + b[i];
}
