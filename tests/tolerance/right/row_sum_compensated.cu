// task: row_sum
// @launch rows_of<<<ceil_div(rows, 64), 64>>>(x, y, rows, cols)
__global__ void rows_of(const float* x, float* y, int rows, int cols) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  const float* row = x + r * cols;
  float acc = 0.0f, lost = 0.0f;
  for (int j = 0; j < cols; j++) {
    float v = __fsub_rn(row[j], lost), sum = __fadd_rn(acc, v);
    lost = __fsub_rn(__fsub_rn(sum, acc), v);
    acc = sum;
  }
  y[r] = acc;
}
