// task: causal_softmax
// @launch rows_of<<<ceil_div(n, 32), 32>>>(x, y, n)
__global__ void rows_of(const float* x, float* y, int n) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= n) return;
  const float* row = x + r * n;
  float m = -INFINITY, sum = 0.0f;
  for (int j = 0; j <= r; j++) m = fmaxf(m, row[j]);
  for (int j = 0; j < max(r, 1); j++) sum += expf(row[j] - m);
  for (int j = 0; j < n; j++) y[r * n + j] = j <= r ? expf(row[j] - m) / sum : 0.0f;
}
