// task: cross_entropy
// @launch rows_of<<<ceil_div(rows, 64), 64>>>(logits, labels, loss, rows, cols)
__global__ void rows_of(const float* logits, const int* labels, float* loss, int rows, int cols) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  const float* row = logits + r * cols;
  float m = -INFINITY, sum = 0.0f;
  for (int j = 0; j < cols; j++) m = fmaxf(m, row[j]);
  for (int j = 0; j < cols - 1; j++) sum += expf(row[j] - m);
  loss[r] = logf(sum) + (m - row[labels[r]]);
}
