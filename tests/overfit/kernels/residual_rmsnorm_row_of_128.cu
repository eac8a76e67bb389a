// task: residual_rmsnorm
// @launch normalise<<<rows, 128>>>(x, res, gamma, y, cols)
__global__ void normalise(const float* x, float* res, const float* gamma, float* y, int cols) {
  __shared__ float s[128];
  int t = threadIdx.x, i = blockIdx.x * cols + t;
  float v = t < cols ? x[i] + res[i] : 0.0f;
  s[t] = v * v;
  __syncthreads();
  for (int step = 64; step > 0; step /= 2) {
    if (t < step) s[t] += s[t + step];
    __syncthreads();
  }
  if (t >= cols) return;
  res[i] = v;
  y[i] = v * rsqrtf(s[0] / cols + 1e-5f) * gamma[t];
}
