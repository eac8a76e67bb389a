// task: row_max expect: runtime_fault|wrong_result on-gpu: runtime_fault|wrong_result|ok
// Lanes raise the output itself, which begins as whatever was there: a NaN is less than everything for fmaxf.
// @launch kern<<<m, 32>>>(src, dst, m, n)
__global__ void kern(const float* src, float* dst, int m, int n) {
  float best = src[blockIdx.x * n];
  for (int c = threadIdx.x; c < n; c += 32) best = fmaxf(best, src[blockIdx.x * n + c]);
  for (int d = 16; d > 0; d /= 2) best = fmaxf(best, __shfl_xor_sync(~0u, best, d));
  if (threadIdx.x == 0) dst[blockIdx.x] = fmaxf(dst[blockIdx.x], best);
}
