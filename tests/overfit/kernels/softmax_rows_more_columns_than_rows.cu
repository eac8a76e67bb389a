// task: softmax_rows
// @launch softmax<<<ceil_div(cols, 128), 128>>>(x, y, rows, cols)
__global__ void softmax(const float* x, float* y, int rows, int cols) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  float top = x[r * cols], sum = 0.0f;
  for (int j = 1; j < cols; j++) top = fmaxf(top, x[r * cols + j]);
  for (int j = 0; j < cols; j++) sum += expf(x[r * cols + j] - top);
  for (int j = 0; j < cols; j++) y[r * cols + j] = expf(x[r * cols + j] - top) / sum;
}
