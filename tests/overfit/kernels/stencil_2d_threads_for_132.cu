// task: stencil_2d
// @launch stencil<<<rows, 132>>>(x, y, rows, cols)
__global__ void stencil(const float* x, float* y, int rows, int cols) {
  int r = blockIdx.x, c = threadIdx.x;
  if (c >= cols) return;
  int i = r * cols + c;
  float acc = -4.0f * x[i];
  if (r > 0) acc += x[i - cols];
  if (r + 1 < rows) acc += x[i + cols];
  if (c > 0) acc += x[i - 1];
  if (c + 1 < cols) acc += x[i + 1];
  y[i] = acc;
}
