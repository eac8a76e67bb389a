// task: row_max expect: ok
// A local array with indices that are known only at run time.
// @launch kern<<<ceil_div(m, 64), 64>>>(src, dst, m, n)
__global__ void kern(const float* src, float* dst, int m, int n) {
  const int r = blockIdx.x * 64 + threadIdx.x;
  if (r >= m) return;
  float best[8];
  for (int k = 0; k < 8; ++k) best[k] = -INFINITY;
  for (int c = 0; c < n; ++c) {
    const int k = (c * 5 + r) & 7;
    best[k] = fmaxf(best[k], src[r * n + c]);
  }
  for (int k = 1; k < 8; ++k) best[0] = fmaxf(best[0], best[k]);
  dst[r] = best[0];
}
