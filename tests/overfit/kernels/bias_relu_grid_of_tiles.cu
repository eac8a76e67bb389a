// task: bias_relu
// @launch bias<<<dim3(7, 6), dim3(32, 16)>>>(x, b, y, rows, cols)
__global__ void bias(const float* x, const float* b, float* y, int rows, int cols) {
  int c = blockIdx.x * 32 + threadIdx.x;
  int r = blockIdx.y * 16 + threadIdx.y;
  if (r < rows && c < cols) y[r * cols + c] = fmaxf(x[r * cols + c] + b[c], 0.0f);
}
