// task: softmax_rows
// @launch rows_of<<<ceil_div(rows, 64), 64>>>(x, y, rows, cols)
__global__ void rows_of(const float* x, float* y, int rows, int cols) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  const float* row = x + r * cols;
  float m = -INFINITY, sum = 0.0f;
  for (int j = 0; j < cols; j++) m = fmaxf(m, row[j]);
  for (int j = 0; j < cols; j++) sum += expf(row[j] - m);
  for (int j = 0; j < cols; j++) y[r * cols + j] = __fdividef(expf(row[j] - m), sum);
}
