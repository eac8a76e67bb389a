// Tiles of 2048 elements, two float4 and two int4 in flight a thread; the last tile by scalars.
// @launch masked_fill<<<ceil_div(n, 2048), 256>>>(x, mask, y, value, n)
constexpr int kThreads = 256, kVectors = 2, kTile = 4 * kThreads * kVectors;

__device__ float fill(float x, int mask, float value) { return mask != 0 ? value : x; }

__global__ void masked_fill(const float* __restrict__ x, const int* __restrict__ mask,
                            float* __restrict__ y, float value, int n) {
  int first = blockIdx.x * kTile;
  if (first + kTile > n) {
    for (int i = first + threadIdx.x; i < n; i += kThreads) y[i] = fill(x[i], mask[i], value);
    return;
  }
  auto x4 = reinterpret_cast<const float4*>(x + first) + threadIdx.x;
  auto mask4 = reinterpret_cast<const int4*>(mask + first) + threadIdx.x;
  auto y4 = reinterpret_cast<float4*>(y + first) + threadIdx.x;
#pragma unroll
  for (int k = 0; k < kTile / 4; k += kThreads) {
    float4 vx = x4[k];
    int4 vmask = mask4[k];
    y4[k] = make_float4(fill(vx.x, vmask.x, value), fill(vx.y, vmask.y, value),
                        fill(vx.z, vmask.z, value), fill(vx.w, vmask.w, value));
  }
}
