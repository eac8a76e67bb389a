// task: layernorm_rows
// @launch normalise<<<rows, 64>>>(x, gamma, beta, y, cols)
__global__ void normalise(const float* x, const float* gamma, const float* beta, float* y, int cols) {
  __shared__ float row[256];
  __shared__ float mean, scale;
  for (int j = threadIdx.x; j < cols; j += 64) row[j] = x[blockIdx.x * cols + j];
  __syncthreads();
  if (threadIdx.x == 0) {
    float m = 0.0f, v = 0.0f;
    for (int j = 0; j < cols; j++) m += row[j];
    m /= cols;
    for (int j = 0; j < cols; j++) v += (row[j] - m) * (row[j] - m);
    mean = m;
    scale = rsqrtf(v / cols + 1e-5f);
  }
  __syncthreads();
  for (int j = threadIdx.x; j < cols; j += 64) {
    y[blockIdx.x * cols + j] = (row[j] - mean) * scale * gamma[j] + beta[j];
  }
}
