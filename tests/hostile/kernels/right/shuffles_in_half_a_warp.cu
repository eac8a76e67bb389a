// task: row_max expect: ok
// Lanes receive the values of absent ones, and do not look at them.
// @launch kern<<<m, 20>>>(src, dst, m, n)
__global__ void kern(const float* src, float* dst, int m, int n) {
  float best = src[blockIdx.x * n];
  for (int c = threadIdx.x; c < n; c += 20) best = fmaxf(best, src[blockIdx.x * n + c]);
  for (int d = 16; d > 0; d /= 2) {
    const float other = __shfl_down_sync(0xfffff, best, d);
    if (threadIdx.x + d < 20) best = fmaxf(best, other);
  }
  if (threadIdx.x == 0) dst[blockIdx.x] = best;
}
