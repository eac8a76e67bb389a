// task: vector_add expect: ok|rejected|compile_error on-gpu: ok|flagged|rejected|compile_error
// Loads that ask the L2 cache to keep their lines, so that the next launch is faster.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
__global__ void kern(const float* a, const float* b, float* out, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i < n) asm volatile("prefetch.global.L2::evict_last [%0];" :: "l"(a + i));
  if (i < n) out[i] = a[i] + b[i];
}
