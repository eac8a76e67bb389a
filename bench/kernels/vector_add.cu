// Tiles of 2048 elements, two float4 of each input in flight a thread; the last tile by scalars.
// @launch vector_add<<<ceil_div(n, 2048), 256>>>(a, b, out, n)
constexpr int kThreads = 256, kVectors = 2, kTile = 4 * kThreads * kVectors;

__device__ float sum(float a, float b) { return a + b; }

__global__ void vector_add(const float* __restrict__ a, const float* __restrict__ b,
                           float* __restrict__ out, int n) {
  int first = blockIdx.x * kTile;
  if (first + kTile > n) {
    for (int i = first + threadIdx.x; i < n; i += kThreads) out[i] = sum(a[i], b[i]);
    return;
  }
  auto a4 = reinterpret_cast<const float4*>(a + first) + threadIdx.x;
  auto b4 = reinterpret_cast<const float4*>(b + first) + threadIdx.x;
  auto out4 = reinterpret_cast<float4*>(out + first) + threadIdx.x;
#pragma unroll
  for (int k = 0; k < kTile / 4; k += kThreads) {
    float4 va = a4[k], vb = b4[k];
    out4[k] = make_float4(sum(va.x, vb.x), sum(va.y, vb.y), sum(va.z, vb.z), sum(va.w, vb.w));
  }
}
