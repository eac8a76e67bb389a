// task: row_max
// @launch top<<<(m + 15) / 32, 32>>>(src, dst, m, n)
__global__ void top(const float* src, float* dst, int m, int n) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= m) return;
  float best = src[r * n];
  for (int j = 1; j < n; j++) best = fmaxf(best, src[r * n + j]);
  dst[r] = best;
}
