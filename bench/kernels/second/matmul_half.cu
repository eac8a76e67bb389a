// Without tensor cores: tiles of 64 x 64 a block, converted to float on their way to shared memory,
// 4 x 4 in the registers of a thread.
// @launch matmul<<<dim3(ceil_div(n, 64), ceil_div(m, 64)), 256>>>(a, b, c, m, n, k)
#include <cuda_fp16.h>

constexpr int kTile = 64, kDepth = 16, kThreads = 256;

__global__ void __launch_bounds__(kThreads)
    matmul(const half* __restrict__ a, const half* __restrict__ b, float* __restrict__ c, int m,
           int n, int k) {
  __shared__ __align__(16) float a_tile[kDepth][kTile + 4];  // transposed
  __shared__ __align__(16) float b_tile[kDepth][kTile];
  int top = blockIdx.y * kTile, left = blockIdx.x * kTile;
  int row = threadIdx.x / 16 * 4, col = threadIdx.x % 16 * 4;
  float sums[4][4] = {};
  for (int depth = 0; depth < k; depth += kDepth) {
#pragma unroll
    for (int i = threadIdx.x; i < kTile * kDepth; i += kThreads) {
      int r = top + i / kDepth, e = depth + i % kDepth;
      a_tile[i % kDepth][i / kDepth] = r < m && e < k ? __half2float(a[r * k + e]) : 0.0f;
    }
#pragma unroll
    for (int i = threadIdx.x; i < kTile * kDepth; i += kThreads) {
      int e = depth + i / kTile, j = left + i % kTile;
      b_tile[i / kTile][i % kTile] = e < k && j < n ? __half2float(b[e * n + j]) : 0.0f;
    }
    __syncthreads();
#pragma unroll
    for (int d = 0; d < kDepth; d++) {
      float4 u4 = *reinterpret_cast<const float4*>(&a_tile[d][row]);
      float4 v4 = *reinterpret_cast<const float4*>(&b_tile[d][col]);
      float u[4] = {u4.x, u4.y, u4.z, u4.w}, v[4] = {v4.x, v4.y, v4.z, v4.w};
#pragma unroll
      for (int i = 0; i < 4; i++)
#pragma unroll
        for (int j = 0; j < 4; j++) sums[i][j] = fmaf(u[i], v[j], sums[i][j]);
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < 4; i++)
#pragma unroll
    for (int j = 0; j < 4; j++)
      if (top + row + i < m && left + col + j < n)
        c[(top + row + i) * n + left + col + j] = sums[i][j];
}
