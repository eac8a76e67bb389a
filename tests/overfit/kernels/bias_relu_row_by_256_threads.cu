// task: bias_relu
// @launch bias<<<rows, 256>>>(x, b, y, cols)
__global__ void bias(const float* x, const float* b, float* y, int cols) {
  int j = threadIdx.x;
  if (j < cols) y[blockIdx.x * cols + j] = fmaxf(x[blockIdx.x * cols + j] + b[j], 0.0f);
}
