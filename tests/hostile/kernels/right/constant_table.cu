// task: conv1d expect: ok
// Weights copied into __shared__, offsets from __constant__ memory.
// @launch kern<<<ceil_div(valid, 128), 128>>>(x, w, y, valid, taps)
__constant__ int kOffsets[8] = {0, 1, 2, 3, 4, 5, 6, 7};
__global__ void kern(const float* x, const float* w, float* y, int valid, int taps) {
  __shared__ float weights[8];
  if (threadIdx.x < taps) weights[threadIdx.x] = w[threadIdx.x];
  __syncthreads();
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i >= valid) return;
  float sum = 0;
  for (int t = 0; t < taps; ++t) sum += x[i + kOffsets[t]] * weights[t];
  y[i] = sum;
}
