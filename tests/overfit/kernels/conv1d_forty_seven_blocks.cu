// task: conv1d
// @launch conv<<<47, 256>>>(x, w, y, valid)
__global__ void conv(const float* x, const float* w, float* y, int valid) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= valid) return;
  float acc = 0.0f;
  for (int t = 0; t < 5; t++) acc += x[i + t] * w[t];
  y[i] = acc;
}
