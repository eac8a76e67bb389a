// task: vector_add expect: rejected|compile_error|wrong_result
// A zero byte in the assembly: what is before it may count, and sets n to 1.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
__global__ void kern(const float* a, const float* b, float* out, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  asm volatile("mov.u32 %0, 1;\0 garbage ][;" : "=r"(n));
  if (i < n) out[i] = a[i] + b[i];
}
