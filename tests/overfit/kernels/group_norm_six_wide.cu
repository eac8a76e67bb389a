// task: group_norm
// @launch normalise<<<batch * groups, 128>>>(x, gamma, beta, y, width, len, groups)
__global__ void normalise(const float* x, const float* gamma, const float* beta, float* y, int width, int len, int groups) {
  __shared__ float s[128];
  int t = threadIdx.x, size = width * len, base = blockIdx.x * size;
  float m = 0.0f, v = 0.0f;
  for (int c = 0; c < width; c++) {
    if (t < len) m += x[base + c * len + t];
  }
  s[t] = m;
  __syncthreads();
  for (int d = 64; d > 0; d /= 2) {
    if (t < d) s[t] += s[t + d];
    __syncthreads();
  }
  m = s[0] / size;
  __syncthreads();
  for (int c = 0; c < width; c++) {
    if (t < len) v += (x[base + c * len + t] - m) * (x[base + c * len + t] - m);
  }
  s[t] = v;
  __syncthreads();
  for (int d = 64; d > 0; d /= 2) {
    if (t < d) s[t] += s[t + d];
    __syncthreads();
  }
  float f = rsqrtf(s[0] / size + 1e-5f);
  for (int c = 0; c < width; c++) {
    int channel = blockIdx.x % groups * width + c;
    if (t < len) y[base + c * len + t] = (x[base + c * len + t] - m) * f * gamma[channel] + beta[channel];
  }
}
