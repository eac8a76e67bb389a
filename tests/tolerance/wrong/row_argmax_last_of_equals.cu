// task: row_argmax
// @launch kern<<<ceil_div(rows, 64), 64>>>(x, y, rows, cols)
__global__ void kern(const float* x, int* y, int rows, int cols) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  int best = 0;
  for (int j = 1; j < cols; j++)
    if (x[r * cols + j] >= x[r * cols + best]) best = j;
  y[r] = best;
}
