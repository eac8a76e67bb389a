// Tiles of 16384 elements, summed by a block each with eight float4 in flight a thread; then one
// block sums the tiles' sums. The order of additions is always the same.
// @scratch sums float[ceil_div(n, 16384)]
// @launch tile_sums<<<ceil_div(n, 16384), 256>>>(x, sums, n)
// @launch final_sum<<<1, 1024>>>(sums, y, sums.size)
constexpr int kThreads = 256, kBatch = 8, kTile = 16384;

__device__ float block_sum(float value) {
  __shared__ float warps[32];
  for (int step = 16; step > 0; step /= 2) value += __shfl_down_sync(~0u, value, step);
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = value;
  __syncthreads();
  if (threadIdx.x >= 32) return 0.0f;
  value = threadIdx.x < blockDim.x / 32 ? warps[threadIdx.x] : 0.0f;
  for (int step = 16; step > 0; step /= 2) value += __shfl_down_sync(~0u, value, step);
  return value;
}

__global__ void tile_sums(const float* __restrict__ x, float* __restrict__ sums, int n) {
  int first = blockIdx.x * kTile;
  float sum = 0.0f;
  if (first + kTile <= n) {
    auto x4 = reinterpret_cast<const float4*>(x + first) + threadIdx.x;
    for (int first4 = 0; first4 < kTile / 4; first4 += kBatch * kThreads) {
      float4 v[kBatch];
#pragma unroll
      for (int k = 0; k < kBatch; k++) v[k] = x4[first4 + k * kThreads];
#pragma unroll
      for (int k = 0; k < kBatch; k++) sum += (v[k].x + v[k].y) + (v[k].z + v[k].w);
    }
  } else {
    for (int i = first + threadIdx.x; i < n; i += kThreads) sum += x[i];
  }
  sum = block_sum(sum);
  if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}

__global__ void final_sum(const float* __restrict__ sums, float* __restrict__ y, int count) {
  float sum = 0.0f;
#pragma unroll 4
  for (int i = threadIdx.x; i < count; i += blockDim.x) sum += sums[i];
  sum = block_sum(sum);
  if (threadIdx.x == 0) y[0] = sum;
}
