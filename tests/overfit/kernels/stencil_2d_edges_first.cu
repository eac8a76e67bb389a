// task: stencil_2d
// @launch stencil<<<dim3(ceil_div(cols, 16), ceil_div(rows, 16)), dim3(16, 16)>>>(x, y, rows, cols)
__global__ void stencil(const float* x, float* y, int rows, int cols) {
  int c = blockIdx.x * 16 + threadIdx.x, r = blockIdx.y * 16 + threadIdx.y;
  if (r >= rows || c >= cols) return;
  int i = r * cols + c;
  float up = r == 0 ? 0.0f : x[i - cols], down = r == rows - 1 ? 0.0f : x[i + cols];
  float left, right;
  if (c == 0) {
    left = 0.0f;
    right = x[i + 1];
  } else if (c == cols - 1) {
    left = x[i - 1];
    right = 0.0f;
  } else {
    left = x[i - 1];
    right = x[i + 1];
  }
  y[i] = up + down + left + right - 4.0f * x[i];
}
