// task: causal_softmax
// @launch rows_of<<<ceil_div(n, 32), 32>>>(x, y, n)
__global__ void rows_of(const float* x, float* y, int n) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= n) return;
  const float* row = x + r * n;
  float m = -INFINITY, sum = 0.0f;
  for (int j = 0; j <= r; j++) {
    float top = fmaxf(m, row[j]);
    sum = sum * __expf(m - top) + __expf(row[j] - top);
    m = top;
  }
  for (int j = 0; j < n; j++) y[r * n + j] = j <= r ? __expf(row[j] - m) / sum : 0.0f;
}
