// task: layernorm_rows
// @launch normalise<<<ceil_div(rows, 96), 96>>>(x, gamma, beta, y, rows, cols)
__global__ void normalise(const float* x, const float* gamma, const float* beta, float* y, int rows, int cols) {
  __shared__ float g[200], b[200];
  for (int j = threadIdx.x; j < cols; j += 96) {
    g[j] = gamma[j];
    b[j] = beta[j];
  }
  __syncthreads();
  int r = blockIdx.x * 96 + threadIdx.x;
  if (r >= rows) return;
  const float* in = x + r * cols;
  float m = 0.0f, v = 0.0f;
  for (int j = 0; j < cols; j++) m += in[j];
  m /= cols;
  for (int j = 0; j < cols; j++) v += (in[j] - m) * (in[j] - m);
  float s = rsqrtf(v / cols + 1e-5f);
  for (int j = 0; j < cols; j++) y[r * cols + j] = (in[j] - m) * s * g[j] + b[j];
}
