// task: row_max
// @launch kern<<<ceil_div(m, 64), 64>>>(src, dst, m, n)
__global__ void kern(const float* src, float* dst, int m, int n) {
  const int r = blockIdx.x * 64 + threadIdx.x;
  if (r >= m) return;
  float top = -1e9f;
  for (int j = 0; j < n; ++j) top = fmaxf(top, src[(long)r * n + j]);
  dst[r] = top;
}
