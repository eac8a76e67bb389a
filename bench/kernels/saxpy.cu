// Tiles of 2048 elements, two float4 of each input in flight a thread; the last tile by scalars.
// @launch saxpy<<<ceil_div(n, 2048), 256>>>(x, b, out, alpha, n)
constexpr int kThreads = 256, kVectors = 2, kTile = 4 * kThreads * kVectors;

__device__ float axpb(float x, float b, float alpha) { return fmaf(alpha, x, b); }

__global__ void saxpy(const float* __restrict__ x, const float* __restrict__ b,
                      float* __restrict__ out, float alpha, int n) {
  int first = blockIdx.x * kTile;
  if (first + kTile > n) {
    for (int i = first + threadIdx.x; i < n; i += kThreads) out[i] = axpb(x[i], b[i], alpha);
    return;
  }
  auto x4 = reinterpret_cast<const float4*>(x + first) + threadIdx.x;
  auto b4 = reinterpret_cast<const float4*>(b + first) + threadIdx.x;
  auto out4 = reinterpret_cast<float4*>(out + first) + threadIdx.x;
#pragma unroll
  for (int k = 0; k < kTile / 4; k += kThreads) {
    float4 vx = x4[k], vb = b4[k];
    out4[k] = make_float4(axpb(vx.x, vb.x, alpha), axpb(vx.y, vb.y, alpha), axpb(vx.z, vb.z, alpha),
                          axpb(vx.w, vb.w, alpha));
  }
}
