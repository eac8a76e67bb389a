// task: vector_add expect: ok|rejected|compile_error|runtime_fault|wrong_result
// Reads its own code through the address of the kernel.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
__global__ void kern(const float* a, const float* b, float* out, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  unsigned long long at;
  asm volatile("mov.u64 %0, _Z4kernPKfS0_Pfi;" : "=l"(at));
  if (i == 0 && *(volatile unsigned*)at == 12345) out[0] = 0;
  if (i < n) out[i] = a[i] + b[i];
}
