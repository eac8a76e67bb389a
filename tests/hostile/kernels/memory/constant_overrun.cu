// task: conv1d expect: runtime_fault on-gpu: runtime_fault|ok|wrong_result
// A read far behind a __constant__ array.
// @launch kern<<<ceil_div(valid, 128), 128>>>(x, w, y, valid, taps)
__constant__ int kShift[4] = {0, 0, 0, 0};
__global__ void kern(const float* x, const float* w, float* y, int valid, int taps) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i >= valid) return;
  float sum = 0;
  for (int t = 0; t < taps; ++t) sum += x[i + t] * w[t];
  y[i] = sum + 0.0f * kShift[20000 + i % 7];
}
