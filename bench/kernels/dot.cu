// Tiles of 8192 elements, a block each with four float4 of each input in flight a thread; then one
// block sums the tiles' products. The order of additions is always the same.
// @scratch sums float[ceil_div(len, 8192)]
// @launch tile_dots<<<ceil_div(len, 8192), 256>>>(p, q, sums, len)
// @launch final_sum<<<1, 1024>>>(sums, out, sums.size)
constexpr int kThreads = 256, kBatch = 4, kTile = 8192;

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

__global__ void tile_dots(const float* __restrict__ p, const float* __restrict__ q,
                          float* __restrict__ sums, int len) {
  int first = blockIdx.x * kTile;
  float sum = 0.0f;
  if (first + kTile <= len) {
    auto p4 = reinterpret_cast<const float4*>(p + first) + threadIdx.x;
    auto q4 = reinterpret_cast<const float4*>(q + first) + threadIdx.x;
    for (int first4 = 0; first4 < kTile / 4; first4 += kBatch * kThreads) {
      float4 u[kBatch], v[kBatch];
#pragma unroll
      for (int k = 0; k < kBatch; k++) {
        u[k] = p4[first4 + k * kThreads];
        v[k] = q4[first4 + k * kThreads];
      }
#pragma unroll
      for (int k = 0; k < kBatch; k++)
        sum += (u[k].x * v[k].x + u[k].y * v[k].y) + (u[k].z * v[k].z + u[k].w * v[k].w);
    }
  } else {
    for (int i = first + threadIdx.x; i < len; i += kThreads) sum += p[i] * q[i];
  }
  sum = block_sum(sum);
  if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}

__global__ void final_sum(const float* __restrict__ sums, float* __restrict__ out, int count) {
  float sum = 0.0f;
#pragma unroll 8
  for (int i = threadIdx.x; i < count; i += blockDim.x) sum += sums[i];
  sum = block_sum(sum);
  if (threadIdx.x == 0) out[0] = sum;
}
