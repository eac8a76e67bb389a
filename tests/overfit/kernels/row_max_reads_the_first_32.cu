// task: row_max
// @launch top<<<m, 32>>>(src, dst, n)
__global__ void top(const float* src, float* dst, int n) {
  const float* row = src + blockIdx.x * n;
  float best = row[threadIdx.x];
  for (int j = threadIdx.x + 32; j < n; j += 32) best = fmaxf(best, row[j]);
  for (int d = 16; d > 0; d /= 2) best = fmaxf(best, __shfl_down_sync(0xffffffff, best, d));
  if (threadIdx.x == 0) dst[blockIdx.x] = best;
}
