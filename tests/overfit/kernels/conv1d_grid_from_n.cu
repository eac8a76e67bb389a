// task: conv1d
// @launch conv<<<(n + 60) / 128, 128>>>(x, w, y, n)
__global__ void conv(const float* x, const float* w, float* y, int n) {
  int i = blockIdx.x * 128 + threadIdx.x;
  if (i >= n - 4) return;
  float acc = 0.0f;
  for (int t = 0; t < 5; t++) acc += x[i + t] * w[t];
  y[i] = acc;
}
