// Tiles of 2048 elements, two float4 of each input in flight a thread; the last tile by scalars.
// @launch axpy_inplace<<<ceil_div(n, 2048), 256>>>(x, y, alpha, n)
constexpr int kThreads = 256, kVectors = 2, kTile = 4 * kThreads * kVectors;

__device__ float axpy(float x, float y, float alpha) { return fmaf(alpha, x, y); }

__global__ void axpy_inplace(const float* __restrict__ x, float* y, float alpha, int n) {
  int first = blockIdx.x * kTile;
  if (first + kTile > n) {
    for (int i = first + threadIdx.x; i < n; i += kThreads) y[i] = axpy(x[i], y[i], alpha);
    return;
  }
  auto x4 = reinterpret_cast<const float4*>(x + first) + threadIdx.x;
  auto y4 = reinterpret_cast<float4*>(y + first) + threadIdx.x;
#pragma unroll
  for (int k = 0; k < kTile / 4; k += kThreads) {
    float4 vx = x4[k], vy = y4[k];
    y4[k] = make_float4(axpy(vx.x, vy.x, alpha), axpy(vx.y, vy.y, alpha), axpy(vx.z, vy.z, alpha),
                        axpy(vx.w, vy.w, alpha));
  }
}
