// Tensor cores by mma.sync on 8-bit integers: tiles of 128 x 128 a block, 64 x 32 a warp. A
// fragment is made of whole words of shared memory. The next 16 words of the depth are loaded into
// registers while the current ones are multiplied.
// @launch matmul<<<dim3(ceil_div(n, 128), ceil_div(m, 128)), 256>>>(a, b, c, m, n, words)
constexpr int kTile = 128, kDepth = 16, kThreads = 256, kPitch = kDepth + 4;

// Four neighbouring words of a matrix, 0 outside.
__device__ int4 load4(const int* __restrict__ x, int r, int c, int rows, int cols) {
  const int* at = x + static_cast<size_t>(r) * cols + c;
  if (r >= rows || c >= cols) return make_int4(0, 0, 0, 0);
  if (cols % 4 == 0) return *reinterpret_cast<const int4*>(at);
  return make_int4(at[0], c + 1 < cols ? at[1] : 0, c + 2 < cols ? at[2] : 0,
                   c + 3 < cols ? at[3] : 0);
}

__device__ void multiply(int (&sums)[4], const int (&a)[4], const int (&b)[2]) {
  asm volatile(
      "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%0, %1, %2, %3};"
      : "+r"(sums[0]), "+r"(sums[1]), "+r"(sums[2]), "+r"(sums[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

__global__ void __launch_bounds__(kThreads)
    matmul(const int* __restrict__ a, const int* __restrict__ b, int* __restrict__ c, int m, int n,
           int words) {
  __shared__ __align__(16) int a_tile[kTile][kPitch], b_tile[kTile][kPitch];
  int top = blockIdx.y * kTile, left = blockIdx.x * kTile;
  int load_row = threadIdx.x / 4, load_word = threadIdx.x % 4 * 4;
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32, g = lane / 4, t = lane % 4;
  int warp_row = warp / 4 * 64, warp_col = warp % 4 * 32;

  int4 next_a[2], next_b[2];
  auto load = [&](int depth) {
#pragma unroll
    for (int i = 0; i < 2; i++) {
      next_a[i] = load4(a, top + load_row + 64 * i, depth + load_word, m, words);
      next_b[i] = load4(b, left + load_row + 64 * i, depth + load_word, n, words);
    }
  };

  int sums[4][4][4] = {};
  load(0);
  for (int depth = 0; depth < words; depth += kDepth) {
#pragma unroll
    for (int i = 0; i < 2; i++) {
      *reinterpret_cast<int4*>(&a_tile[load_row + 64 * i][load_word]) = next_a[i];
      *reinterpret_cast<int4*>(&b_tile[load_row + 64 * i][load_word]) = next_b[i];
    }
    __syncthreads();
    if (depth + kDepth < words) load(depth + kDepth);
#pragma unroll
    for (int d = 0; d < kDepth; d += 8) {
      int rows[4][4], cols[4][2];
#pragma unroll
      for (int i = 0; i < 4; i++) {
        int r = warp_row + 16 * i + g;
        rows[i][0] = a_tile[r][d + t];
        rows[i][1] = a_tile[r + 8][d + t];
        rows[i][2] = a_tile[r][d + t + 4];
        rows[i][3] = a_tile[r + 8][d + t + 4];
        cols[i][0] = b_tile[warp_col + 8 * i + g][d + t];
        cols[i][1] = b_tile[warp_col + 8 * i + g][d + t + 4];
      }
#pragma unroll
      for (int i = 0; i < 4; i++)
#pragma unroll
        for (int j = 0; j < 4; j++) multiply(sums[i][j], rows[i], cols[j]);
    }
    __syncthreads();
  }

#pragma unroll
  for (int i = 0; i < 8; i++) {
    int r = top + warp_row + i / 2 * 16 + i % 2 * 8 + g;
#pragma unroll
    for (int j = 0; j < 4; j++) {
      int col = left + warp_col + 8 * j + 2 * t;
      if (r >= m || col >= n) continue;
      int* out = c + static_cast<size_t>(r) * n + col;
      out[0] = sums[i / 2][j][i % 2 * 2];
      if (col + 1 < n) out[1] = sums[i / 2][j][i % 2 * 2 + 1];
    }
  }
}
