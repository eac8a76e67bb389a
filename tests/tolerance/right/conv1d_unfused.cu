// task: conv1d
// @launch correlate<<<ceil_div(valid, 128), 128>>>(x, w, y, valid, taps)
__global__ void correlate(const float* x, const float* w, float* y, int valid, int taps) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= valid) return;
  float acc = 0.0f;
  for (int t = 0; t < taps; t++) acc = __fadd_rn(acc, __fmul_rn(x[i + t], w[t]));
  y[i] = acc;
}
