// Tiles of 16384 elements, a block each with eight float4 in flight a thread; then one block takes
// the maximum of the tiles' maxima.
// @scratch tops float[ceil_div(N, 16384)]
// @launch tile_max<<<ceil_div(N, 16384), 256>>>(a, tops, N)
// @launch final_max<<<1, 1024>>>(tops, res, tops.size)
constexpr int kThreads = 256, kBatch = 8, kTile = 16384;

__device__ float block_max(float value) {
  __shared__ float warps[32];
  for (int step = 16; step > 0; step /= 2) value = fmaxf(value, __shfl_down_sync(~0u, value, step));
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = value;
  __syncthreads();
  if (threadIdx.x >= 32) return value;
  value = threadIdx.x < blockDim.x / 32 ? warps[threadIdx.x] : -INFINITY;
  for (int step = 16; step > 0; step /= 2) value = fmaxf(value, __shfl_down_sync(~0u, value, step));
  return value;
}

__global__ void tile_max(const float* __restrict__ a, float* __restrict__ tops, int N) {
  int first = blockIdx.x * kTile;
  float top = -INFINITY;
  if (first + kTile <= N) {
    auto a4 = reinterpret_cast<const float4*>(a + first) + threadIdx.x;
    for (int first4 = 0; first4 < kTile / 4; first4 += kBatch * kThreads) {
      float4 v[kBatch];
#pragma unroll
      for (int k = 0; k < kBatch; k++) v[k] = a4[first4 + k * kThreads];
#pragma unroll
      for (int k = 0; k < kBatch; k++)
        top = fmaxf(top, fmaxf(fmaxf(v[k].x, v[k].y), fmaxf(v[k].z, v[k].w)));
    }
  } else {
    for (int i = first + threadIdx.x; i < N; i += kThreads) top = fmaxf(top, a[i]);
  }
  top = block_max(top);
  if (threadIdx.x == 0) tops[blockIdx.x] = top;
}

__global__ void final_max(const float* __restrict__ tops, float* __restrict__ res, int count) {
  float top = -INFINITY;
#pragma unroll 4
  for (int i = threadIdx.x; i < count; i += blockDim.x) top = fmaxf(top, tops[i]);
  top = block_max(top);
  if (threadIdx.x == 0) res[0] = top;
}
