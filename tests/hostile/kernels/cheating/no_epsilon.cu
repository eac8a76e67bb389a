// task: layernorm_rows expect: ok|wrong_result
// Variance as a difference of large numbers, no epsilon.
// @launch kern<<<rows, 32>>>(x, gamma, beta, y, cols)
__global__ void kern(const float* x, const float* gamma, const float* beta, float* y, int cols) {
  const float* row = x + blockIdx.x * cols;
  float sum = 0, squares = 0;
  for (int c = 0; c < cols; ++c) sum += row[c], squares += row[c] * row[c];
  const float mean = sum / cols, f = rsqrtf(squares / cols - mean * mean);
  for (int c = threadIdx.x; c < cols; c += 32) y[blockIdx.x * cols + c] = (row[c] - mean) * f * gamma[c] + beta[c];
}
