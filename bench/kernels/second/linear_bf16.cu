// Tensor cores by wmma: tiles of 64 x 64 a block, 32 x 32 a warp, in two buffers of shared memory,
// so that one barrier for each 32 of the depth is enough; w is the column-major operand.
// @launch linear<<<dim3(ceil_div(n, 64), ceil_div(m, 64)), 128>>>(x, w, bias, y, m, n, k)
#include <cuda_bf16.h>
#include <mma.h>

using namespace nvcuda;

constexpr int kTile = 64, kDepth = 32, kThreads = 128, kPitch = kDepth + 8, kPitchOut = 20;

__device__ void load_tile(__nv_bfloat16* tile, const __nv_bfloat16* __restrict__ x, int first,
                          int depth, int rows, int k) {
#pragma unroll 4
  for (int i = threadIdx.x; i < kTile * kDepth / 2; i += kThreads) {
    int r = i / (kDepth / 2), e = i % (kDepth / 2) * 2;
    const __nv_bfloat16* at = x + static_cast<size_t>(first + r) * k + depth + e;
    __nv_bfloat162 two = __floats2bfloat162_rn(0.0f, 0.0f);
    if (first + r < rows && depth + e < k) {
      if (k % 2 == 0) {
        two = *reinterpret_cast<const __nv_bfloat162*>(at);
      } else {
        two.x = at[0];
        if (depth + e + 1 < k) two.y = at[1];
      }
    }
    *reinterpret_cast<__nv_bfloat162*>(&tile[r * kPitch + e]) = two;
  }
}

__global__ void __launch_bounds__(kThreads)
    linear(const __nv_bfloat16* __restrict__ x, const __nv_bfloat16* __restrict__ w,
           const __nv_bfloat16* __restrict__ bias, __nv_bfloat16* __restrict__ y, int m, int n,
           int k) {
  __shared__ __align__(32) __nv_bfloat16 x_tile[2][kTile * kPitch], w_tile[2][kTile * kPitch];
  __shared__ __align__(32) float out_tiles[kThreads / 32][16 * kPitchOut];
  int top = blockIdx.y * kTile, left = blockIdx.x * kTile;
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  int warp_row = warp / 2 * 32, warp_col = warp % 2 * 32;

  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sums[2][2];
#pragma unroll
  for (int i = 0; i < 4; i++) wmma::fill_fragment(sums[i / 2][i % 2], 0.0f);
  for (int depth = 0, buffer = 0; depth < k; depth += kDepth, buffer ^= 1) {
    load_tile(x_tile[buffer], x, top, depth, m, k);
    load_tile(w_tile[buffer], w, left, depth, n, k);
    __syncthreads();
#pragma unroll
    for (int d = 0; d < kDepth; d += 16) {
      wmma::fragment<wmma::matrix_a, 16, 16, 16, __nv_bfloat16, wmma::row_major> rows[2];
      wmma::fragment<wmma::matrix_b, 16, 16, 16, __nv_bfloat16, wmma::col_major> cols[2];
#pragma unroll
      for (int i = 0; i < 2; i++) {
        wmma::load_matrix_sync(rows[i], &x_tile[buffer][(warp_row + 16 * i) * kPitch + d], kPitch);
        wmma::load_matrix_sync(cols[i], &w_tile[buffer][(warp_col + 16 * i) * kPitch + d], kPitch);
      }
#pragma unroll
      for (int i = 0; i < 4; i++)
        wmma::mma_sync(sums[i / 2][i % 2], rows[i / 2], cols[i % 2], sums[i / 2][i % 2]);
    }
  }

  float* out = out_tiles[warp];
#pragma unroll
  for (int i = 0; i < 4; i++) {
    wmma::store_matrix_sync(out, sums[i / 2][i % 2], kPitchOut, wmma::mem_row_major);
    __syncwarp();
#pragma unroll
    for (int e = lane; e < 256; e += 32) {
      int r = top + warp_row + i / 2 * 16 + e / 16, col = left + warp_col + i % 2 * 16 + e % 16;
      if (r < m && col < n)
        y[static_cast<size_t>(r) * n + col] =
            __float2bfloat16(out[e / 16 * kPitchOut + e % 16] + __bfloat162float(bias[col]));
    }
    __syncwarp();
  }
}
