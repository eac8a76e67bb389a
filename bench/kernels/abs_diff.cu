// Tiles of 2048 elements, two float4 of each input in flight a thread; the last tile by scalars.
// @launch abs_diff<<<ceil_div(len, 2048), 256>>>(lhs, rhs, z, len)
constexpr int kThreads = 256, kVectors = 2, kTile = 4 * kThreads * kVectors;

__device__ float distance(float lhs, float rhs) { return fabsf(lhs - rhs); }

__global__ void abs_diff(const float* __restrict__ lhs, const float* __restrict__ rhs,
                         float* __restrict__ z, int len) {
  int first = blockIdx.x * kTile;
  if (first + kTile > len) {
    for (int i = first + threadIdx.x; i < len; i += kThreads) z[i] = distance(lhs[i], rhs[i]);
    return;
  }
  auto lhs4 = reinterpret_cast<const float4*>(lhs + first) + threadIdx.x;
  auto rhs4 = reinterpret_cast<const float4*>(rhs + first) + threadIdx.x;
  auto z4 = reinterpret_cast<float4*>(z + first) + threadIdx.x;
#pragma unroll
  for (int k = 0; k < kTile / 4; k += kThreads) {
    float4 vlhs = lhs4[k], vrhs = rhs4[k];
    z4[k] = make_float4(distance(vlhs.x, vrhs.x), distance(vlhs.y, vrhs.y),
                        distance(vlhs.z, vrhs.z), distance(vlhs.w, vrhs.w));
  }
}
