// Tiles of 4096 elements, four float4 in flight a thread; the last tile by scalars.
// @launch sigmoid<<<ceil_div(count, 4096), 256>>>(x, y, count)
constexpr int kThreads = 256, kVectors = 4, kTile = 4 * kThreads * kVectors;

__device__ float logistic(float x) { return __fdividef(1.0f, 1.0f + __expf(-x)); }

__global__ void sigmoid(const float* __restrict__ x, float* __restrict__ y, int count) {
  int first = blockIdx.x * kTile;
  if (first + kTile > count) {
    for (int i = first + threadIdx.x; i < count; i += kThreads) y[i] = logistic(x[i]);
    return;
  }
  auto x4 = reinterpret_cast<const float4*>(x + first) + threadIdx.x;
  auto y4 = reinterpret_cast<float4*>(y + first) + threadIdx.x;
#pragma unroll
  for (int k = 0; k < kTile / 4; k += kThreads) {
    float4 vx = x4[k];
    y4[k] = make_float4(logistic(vx.x), logistic(vx.y), logistic(vx.z), logistic(vx.w));
  }
}
