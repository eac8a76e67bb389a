// task: bias_gelu_residual
// @launch gelu<<<128, 160>>>(x, b, res, y, rows, cols)
__global__ void gelu(const float* x, const float* b, const float* res, float* y, int rows, int cols) {
  int r = blockIdx.x, j = threadIdx.x;
  if (r >= rows || j >= cols) return;
  float v = x[r * cols + j] + b[j];
  y[r * cols + j] = 0.5f * v * (1.0f + tanhf(0.7978845608f * (v + 0.044715f * v * v * v))) + res[r * cols + j];
}
