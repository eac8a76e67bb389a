// A thread computes two times four neighbouring outputs, each from two float4 of x: the second is
// the next thread's first, and comes from the L1 cache. The last tile by scalars.
// @launch conv1d<<<ceil_div(valid, 2048), 256>>>(x, w, y, valid)
constexpr int kTaps = 5, kThreads = 256, kTile = 2048;

__global__ void __launch_bounds__(kThreads) conv1d(const float* __restrict__ x,
                                                   const float* __restrict__ w,
                                                   float* __restrict__ y, int valid) {
  float taps[kTaps];
#pragma unroll
  for (int t = 0; t < kTaps; t++) taps[t] = w[t];
  int first = blockIdx.x * kTile;
  if (first + kTile > valid) {
    for (int i = first + threadIdx.x; i < valid; i += kThreads) {
      float sum = 0.0f;
#pragma unroll
      for (int t = 0; t < kTaps; t++) sum += x[i + t] * taps[t];
      y[i] = sum;
    }
    return;
  }
  auto x4 = reinterpret_cast<const float4*>(x + first) + threadIdx.x;
  auto y4 = reinterpret_cast<float4*>(y + first) + threadIdx.x;
#pragma unroll
  for (int k = 0; k < kTile / 4; k += kThreads) {
    float4 low = x4[k], high = x4[k + 1];
    float v[8] = {low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w};
    float sum[4] = {};
#pragma unroll
    for (int t = 0; t < kTaps; t++)
#pragma unroll
      for (int i = 0; i < 4; i++) sum[i] += v[i + t] * taps[t];
    y4[k] = make_float4(sum[0], sum[1], sum[2], sum[3]);
  }
}
