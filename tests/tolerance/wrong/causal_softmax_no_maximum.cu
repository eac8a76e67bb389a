// task: causal_softmax
// @launch rows_of<<<ceil_div(n, 32), 32>>>(x, y, n)
__global__ void rows_of(const float* x, float* y, int n) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= n) return;
  const float* row = x + r * n;
  float sum = 0.0f;
  for (int j = 0; j <= r; j++) sum += expf(row[j]);
  for (int j = 0; j < n; j++) y[r * n + j] = j <= r ? expf(row[j]) / sum : 0.0f;
}
