// task: vector_add expect: rejected|compile_error|runtime_fault
// A location inlined at a function that does not exist.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
__global__ void kern(const float* a, const float* b, float* out, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  asm volatile(".loc 1 5 1, function_name nowhere, inlined_at 1 5 1" ::: "memory");
  if (i < n) *(volatile float*)8 = 1;
  if (i < n) out[i] = a[i] + b[i];
}
