// task: row_sum expect: wrong_result
// Every second element, doubled.
// @launch kern<<<ceil_div(rows, 64), 64>>>(x, y, rows, cols)
__global__ void kern(const float* x, float* y, int rows, int cols) {
  const int r = blockIdx.x * 64 + threadIdx.x;
  if (r >= rows) return;
  float sum = 0;
  for (int c = 0; c < cols; c += 2) sum += 2 * x[r * cols + c];
  y[r] = sum;
}
