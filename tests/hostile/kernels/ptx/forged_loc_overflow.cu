// task: vector_add expect: ok|rejected|compile_error
// A line number beyond all bounds.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
__global__ void kern(const float* a, const float* b, float* out, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  asm volatile(".loc 1 99999999999999999999 0" ::: "memory");
  if (i < n) out[i] = a[i] + b[i];
}
