// task: layernorm_rows
// @launch kern<<<rows, 32>>>(x, gamma, beta, y, rows, cols)
__global__ void kern(const float* x, const float* gamma, const float* beta, float* y, int rows, int cols) {
  const float* in = x + blockIdx.x * cols;
  float inverse = 1.0f / cols, sum = 0.0f;
  for (int j = threadIdx.x; j < cols; j += 32) sum += in[j];
  for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, step);
  float mean = sum * inverse, squares = 0.0f;
  for (int j = threadIdx.x; j < cols; j += 32) squares = fmaf(in[j] - mean, in[j] - mean, squares);
  for (int step = 16; step > 0; step /= 2) squares += __shfl_xor_sync(0xffffffffu, squares, step);
  float scale = rsqrtf(fmaf(squares, inverse, 1e-5f));
  for (int j = threadIdx.x; j < cols; j += 32)
    y[blockIdx.x * cols + j] = fmaf((in[j] - mean) * scale, gamma[j], beta[j]);
}
