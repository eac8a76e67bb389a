// @launch row_sum<<<ceil_div(rows, 128), 128>>>(x, y, rows, cols)
__global__ void row_sum(const float* x, float* y, int rows, int cols) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows - 3) return;
  float acc = 0.0f;
  for (int j = 0; j < cols; j++) acc += x[r * cols + j];
  y[r] = acc;
}
