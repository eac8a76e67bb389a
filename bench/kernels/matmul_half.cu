// Tensor cores by wmma: tiles of 128 x 128 a block, 64 x 32 a warp. The next 32 of the depth are
// loaded into registers while the current ones are multiplied.
// @launch matmul<<<dim3(ceil_div(n, 128), ceil_div(m, 128)), 256>>>(a, b, c, m, n, k)
#include <cuda_fp16.h>
#include <mma.h>

using namespace nvcuda;

constexpr int kTile = 128, kDepth = 32, kThreads = 256;
constexpr int kPitchA = kDepth + 8, kPitchB = kTile + 8, kPitchOut = 20;

struct __align__(16) Eight {
  half v[8];
};

// Eight neighbouring elements of a matrix, 0 outside.
__device__ Eight load8(const half* __restrict__ x, int r, int c, int rows, int cols) {
  Eight eight;
  const half* at = x + static_cast<size_t>(r) * cols + c;
  if (cols % 8 == 0 && r < rows && c < cols) return *reinterpret_cast<const Eight*>(at);
#pragma unroll
  for (int i = 0; i < 8; i++) eight.v[i] = r < rows && c + i < cols ? at[i] : __float2half(0.0f);
  return eight;
}

__global__ void __launch_bounds__(kThreads)
    matmul(const half* __restrict__ a, const half* __restrict__ b, float* __restrict__ c, int m,
           int n, int k) {
  __shared__ __align__(32) half a_tile[kTile * kPitchA];
  __shared__ __align__(32) half b_tile[kDepth * kPitchB];
  __shared__ __align__(32) float out_tiles[kThreads / 32][16 * kPitchOut];
  int top = blockIdx.y * kTile, left = blockIdx.x * kTile;
  int a_row = threadIdx.x / 4, a_depth = threadIdx.x % 4 * 8;
  int b_depth = threadIdx.x / 16, b_col = threadIdx.x % 16 * 8;
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  int warp_row = warp / 4 * 64, warp_col = warp % 4 * 32;

  Eight next_a[2], next_b[2];
  auto load = [&](int depth) {
#pragma unroll
    for (int i = 0; i < 2; i++) {
      next_a[i] = load8(a, top + a_row + 64 * i, depth + a_depth, m, k);
      next_b[i] = load8(b, depth + b_depth + 16 * i, left + b_col, k, n);
    }
  };

  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sums[4][2];
#pragma unroll
  for (int i = 0; i < 4; i++)
#pragma unroll
    for (int j = 0; j < 2; j++) wmma::fill_fragment(sums[i][j], 0.0f);

  load(0);
  for (int depth = 0; depth < k; depth += kDepth) {
#pragma unroll
    for (int i = 0; i < 2; i++) {
      *reinterpret_cast<Eight*>(&a_tile[(a_row + 64 * i) * kPitchA + a_depth]) = next_a[i];
      *reinterpret_cast<Eight*>(&b_tile[(b_depth + 16 * i) * kPitchB + b_col]) = next_b[i];
    }
    __syncthreads();
    if (depth + kDepth < k) load(depth + kDepth);
#pragma unroll
    for (int d = 0; d < kDepth; d += 16) {
      wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> rows[4];
      wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> cols[2];
#pragma unroll
      for (int i = 0; i < 4; i++)
        wmma::load_matrix_sync(rows[i], &a_tile[(warp_row + 16 * i) * kPitchA + d], kPitchA);
#pragma unroll
      for (int j = 0; j < 2; j++)
        wmma::load_matrix_sync(cols[j], &b_tile[d * kPitchB + warp_col + 16 * j], kPitchB);
#pragma unroll
      for (int i = 0; i < 4; i++)
#pragma unroll
        for (int j = 0; j < 2; j++) wmma::mma_sync(sums[i][j], rows[i], cols[j], sums[i][j]);
    }
    __syncthreads();
  }

  float* out = out_tiles[warp];
#pragma unroll
  for (int i = 0; i < 4; i++) {
#pragma unroll
    for (int j = 0; j < 2; j++) {
      wmma::store_matrix_sync(out, sums[i][j], kPitchOut, wmma::mem_row_major);
      __syncwarp();
#pragma unroll
      for (int e = lane; e < 256; e += 32) {
        int r = top + warp_row + 16 * i + e / 16, col = left + warp_col + 16 * j + e % 16;
        if (r < m && col < n)
          c[static_cast<size_t>(r) * n + col] = out[e / 16 * kPitchOut + e % 16];
      }
      __syncwarp();
    }
  }
}
