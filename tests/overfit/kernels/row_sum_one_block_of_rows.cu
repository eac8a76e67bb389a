// task: row_sum
// @launch sum<<<1, 128>>>(x, y, rows, cols)
__global__ void sum(const float* x, float* y, int rows, int cols) {
  int r = threadIdx.x;
  if (r >= rows) return;
  float acc = 0.0f;
  for (int j = 0; j < cols; j++) acc += x[r * cols + j];
  y[r] = acc;
}
