// task: vector_add expect: wrong_result|nondeterministic|ok|rejected
// Works only on some multiprocessors.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
__global__ void kern(const float* a, const float* b, float* out, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  unsigned sm;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
  if (i < n && sm % 2 == 0) out[i] = a[i] + b[i];
}
