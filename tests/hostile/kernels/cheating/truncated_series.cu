// task: softmax_rows expect: wrong_result
// @launch kern<<<ceil_div(rows, 128), 128>>>(x, y, rows, cols)
__device__ float series(float x) {
  float term = 1, sum = 1;
  for (int k = 1; k < 14; ++k) sum += term *= x / k;
  return sum;
}
__global__ void kern(const float* x, float* y, int rows, int cols) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  float sum = 0;
  for (int j = 0; j < cols; j++) sum += series(x[r * cols + j]);
  for (int j = 0; j < cols; j++) y[r * cols + j] = series(x[r * cols + j]) / sum;
}
