// Tensor cores by mma.sync: tiles of 128 x 128 a block, 64 x 32 a warp. Both operands have their
// depth in a row, so that a fragment is made of whole words of shared memory. The next 32 of the
// depth are loaded into registers while the current ones are multiplied.
// @launch linear<<<dim3(ceil_div(n, 128), ceil_div(m, 128)), 256>>>(x, w, bias, y, m, n, k)
#include <cuda_bf16.h>

constexpr int kTile = 128, kDepth = 32, kThreads = 256;
constexpr int kWords = kDepth / 2, kPitch = kWords + 4;  // of two elements; no bank conflicts

// Eight neighbouring elements of a matrix as words, 0 outside.
__device__ uint4 load8(const __nv_bfloat16* __restrict__ x, int r, int c, int rows, int cols) {
  const __nv_bfloat16* at = x + static_cast<size_t>(r) * cols + c;
  if (r >= rows || c >= cols) return make_uint4(0, 0, 0, 0);
  if (cols % 8 == 0) return *reinterpret_cast<const uint4*>(at);
  unsigned v[4];
#pragma unroll
  for (int i = 0; i < 4; i++) {
    unsigned low = c + 2 * i < cols ? __bfloat16_as_ushort(at[2 * i]) : 0;
    unsigned high = c + 2 * i + 1 < cols ? __bfloat16_as_ushort(at[2 * i + 1]) : 0;
    v[i] = low | high << 16;
  }
  return make_uint4(v[0], v[1], v[2], v[3]);
}

__device__ void multiply(float (&sums)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%0, %1, %2, %3};"
      : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

__global__ void __launch_bounds__(kThreads)
    linear(const __nv_bfloat16* __restrict__ x, const __nv_bfloat16* __restrict__ w,
           const __nv_bfloat16* __restrict__ bias, __nv_bfloat16* __restrict__ y, int m, int n,
           int k) {
  __shared__ __align__(16) unsigned x_tile[kTile][kPitch], w_tile[kTile][kPitch];
  int top = blockIdx.y * kTile, left = blockIdx.x * kTile;
  int load_row = threadIdx.x / 4, load_word = threadIdx.x % 4 * 4;
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32, g = lane / 4, t = lane % 4;
  int warp_row = warp / 4 * 64, warp_col = warp % 4 * 32;

  uint4 next_x[2], next_w[2];
  auto load = [&](int depth) {
#pragma unroll
    for (int i = 0; i < 2; i++) {
      next_x[i] = load8(x, top + load_row + 64 * i, depth + 2 * load_word, m, k);
      next_w[i] = load8(w, left + load_row + 64 * i, depth + 2 * load_word, n, k);
    }
  };

  float sums[4][4][4] = {};
  load(0);
  for (int depth = 0; depth < k; depth += kDepth) {
#pragma unroll
    for (int i = 0; i < 2; i++) {
      *reinterpret_cast<uint4*>(&x_tile[load_row + 64 * i][load_word]) = next_x[i];
      *reinterpret_cast<uint4*>(&w_tile[load_row + 64 * i][load_word]) = next_w[i];
    }
    __syncthreads();
    if (depth + kDepth < k) load(depth + kDepth);
#pragma unroll
    for (int d = 0; d < kWords; d += 8) {
      unsigned a[4][4], b[4][2];
#pragma unroll
      for (int i = 0; i < 4; i++) {
        int r = warp_row + 16 * i + g;
        a[i][0] = x_tile[r][d + t];
        a[i][1] = x_tile[r + 8][d + t];
        a[i][2] = x_tile[r][d + t + 4];
        a[i][3] = x_tile[r + 8][d + t + 4];
      }
#pragma unroll
      for (int j = 0; j < 4; j++) {
        b[j][0] = w_tile[warp_col + 8 * j + g][d + t];
        b[j][1] = w_tile[warp_col + 8 * j + g][d + t + 4];
      }
#pragma unroll
      for (int i = 0; i < 4; i++)
#pragma unroll
        for (int j = 0; j < 4; j++) multiply(sums[i][j], a[i], b[j]);
    }
    __syncthreads();
  }

#pragma unroll
  for (int j = 0; j < 4; j++) {
    int col = left + warp_col + 8 * j + 2 * t;
    float b0 = col < n ? __bfloat162float(bias[col]) : 0.0f;
    float b1 = col + 1 < n ? __bfloat162float(bias[col + 1]) : 0.0f;
#pragma unroll
    for (int i = 0; i < 8; i++) {
      int r = top + warp_row + i / 2 * 16 + i % 2 * 8 + g;
      if (r >= m || col >= n) continue;
      __nv_bfloat16* out = y + static_cast<size_t>(r) * n + col;
      float s0 = sums[i / 2][j][i % 2 * 2] + b0, s1 = sums[i / 2][j][i % 2 * 2 + 1] + b1;
      if (n % 2 == 0) {
        *reinterpret_cast<__nv_bfloat162*>(out) = __floats2bfloat162_rn(s0, s1);
      } else {
        out[0] = __float2bfloat16(s0);
        if (col + 1 < n) out[1] = __float2bfloat16(s1);
      }
    }
  }
}
