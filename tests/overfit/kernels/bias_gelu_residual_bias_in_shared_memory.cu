// task: bias_gelu_residual
// @launch gelu<<<rows, 64>>>(x, b, res, y, cols)
__global__ void gelu(const float* x, const float* b, const float* res, float* y, int cols) {
  __shared__ float bias[132];
  for (int j = threadIdx.x; j < cols; j += 64) bias[j] = b[j];
  __syncthreads();
  for (int j = threadIdx.x; j < cols; j += 64) {
    int i = blockIdx.x * cols + j;
    float v = x[i] + bias[j];
    y[i] = 0.5f * v * (1.0f + tanhf(0.7978845608f * (v + 0.044715f * v * v * v))) + res[i];
  }
}
