// Tiles of 4096 elements, four float4 in flight a thread; the last tile by scalars.
// @launch scale<<<ceil_div(n, 4096), 256>>>(x, y, alpha, n)
constexpr int kThreads = 256, kVectors = 4, kTile = 4 * kThreads * kVectors;

__device__ float scaled(float x, float alpha) { return alpha * x; }

__global__ void scale(const float* __restrict__ x, float* __restrict__ y, float alpha, int n) {
  int first = blockIdx.x * kTile;
  if (first + kTile > n) {
    for (int i = first + threadIdx.x; i < n; i += kThreads) y[i] = scaled(x[i], alpha);
    return;
  }
  auto x4 = reinterpret_cast<const float4*>(x + first) + threadIdx.x;
  auto y4 = reinterpret_cast<float4*>(y + first) + threadIdx.x;
#pragma unroll
  for (int k = 0; k < kTile / 4; k += kThreads) {
    float4 vx = x4[k];
    y4[k] = make_float4(scaled(vx.x, alpha), scaled(vx.y, alpha), scaled(vx.z, alpha),
                        scaled(vx.w, alpha));
  }
}
