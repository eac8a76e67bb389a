// Tiles of 4096 elements, four float4 in flight a thread; the last tile by scalars.
// @launch leaky_relu<<<ceil_div(n, 4096), 256>>>(p, q, slope, n)
constexpr int kThreads = 256, kVectors = 4, kTile = 4 * kThreads * kVectors;

__device__ float leaky(float p, float slope) { return fmaxf(p, slope * p); }

__global__ void leaky_relu(const float* __restrict__ p, float* __restrict__ q, float slope, int n) {
  int first = blockIdx.x * kTile;
  if (first + kTile > n) {
    for (int i = first + threadIdx.x; i < n; i += kThreads) q[i] = leaky(p[i], slope);
    return;
  }
  auto p4 = reinterpret_cast<const float4*>(p + first) + threadIdx.x;
  auto q4 = reinterpret_cast<float4*>(q + first) + threadIdx.x;
#pragma unroll
  for (int k = 0; k < kTile / 4; k += kThreads) {
    float4 vp = p4[k];
    q4[k] =
        make_float4(leaky(vp.x, slope), leaky(vp.y, slope), leaky(vp.z, slope), leaky(vp.w, slope));
  }
}
