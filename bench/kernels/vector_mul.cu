// Tiles of 2048 elements, two float4 of each input in flight a thread; the last tile by scalars.
// @launch vector_mul<<<ceil_div(len, 2048), 256>>>(u, v, res, len)
constexpr int kThreads = 256, kVectors = 2, kTile = 4 * kThreads * kVectors;

__device__ float product(float u, float v) { return u * v; }

__global__ void vector_mul(const float* __restrict__ u, const float* __restrict__ v,
                           float* __restrict__ res, int len) {
  int first = blockIdx.x * kTile;
  if (first + kTile > len) {
    for (int i = first + threadIdx.x; i < len; i += kThreads) res[i] = product(u[i], v[i]);
    return;
  }
  auto u4 = reinterpret_cast<const float4*>(u + first) + threadIdx.x;
  auto v4 = reinterpret_cast<const float4*>(v + first) + threadIdx.x;
  auto res4 = reinterpret_cast<float4*>(res + first) + threadIdx.x;
#pragma unroll
  for (int k = 0; k < kTile / 4; k += kThreads) {
    float4 vu = u4[k], vv = v4[k];
    res4[k] = make_float4(product(vu.x, vv.x), product(vu.y, vv.y), product(vu.z, vv.z),
                          product(vu.w, vv.w));
  }
}
