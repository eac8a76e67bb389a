// Tiles of 4096 elements, four float4 in flight a thread; the last tile by scalars.
// @launch relu<<<ceil_div(size, 4096), 256>>>(inp, out, size)
constexpr int kThreads = 256, kVectors = 4, kTile = 4 * kThreads * kVectors;

__device__ float rectify(float inp) { return fmaxf(inp, 0.0f); }

__global__ void relu(const float* __restrict__ inp, float* __restrict__ out, int size) {
  int first = blockIdx.x * kTile;
  if (first + kTile > size) {
    for (int i = first + threadIdx.x; i < size; i += kThreads) out[i] = rectify(inp[i]);
    return;
  }
  auto inp4 = reinterpret_cast<const float4*>(inp + first) + threadIdx.x;
  auto out4 = reinterpret_cast<float4*>(out + first) + threadIdx.x;
#pragma unroll
  for (int k = 0; k < kTile / 4; k += kThreads) {
    float4 vinp = inp4[k];
    out4[k] = make_float4(rectify(vinp.x), rectify(vinp.y), rectify(vinp.z), rectify(vinp.w));
  }
}
