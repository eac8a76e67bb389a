// task: row_argmax expect: ok|wrong_result
// Of equal values takes the last; without ties nobody sees it.
// @launch kern<<<ceil_div(rows, 64), 64>>>(x, y, rows, cols)
__global__ void kern(const float* x, int* y, int rows, int cols) {
  const int r = blockIdx.x * 64 + threadIdx.x;
  if (r >= rows) return;
  int best = 0;
  for (int c = 1; c < cols; ++c)
    if (x[r * cols + c] >= x[r * cols + best]) best = c;
  y[r] = best;
}
