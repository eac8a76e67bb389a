// Four products in an instruction, __dp4a: tiles of 64 x 64 a block, 4 x 4 in the registers of a
// thread, with the words of both operands transposed in shared memory.
// @launch matmul<<<dim3(ceil_div(n, 64), ceil_div(m, 64)), 256>>>(a, b, c, m, n, words)
constexpr int kTile = 64, kDepth = 16, kThreads = 256;

__device__ void load_tile(int (&tile)[kDepth][kTile + 4], const int* __restrict__ x, int first,
                          int depth, int rows, int words) {
#pragma unroll
  for (int i = threadIdx.x; i < kTile * kDepth; i += kThreads) {
    int r = first + i / kDepth, w = depth + i % kDepth;
    tile[i % kDepth][i / kDepth] = r < rows && w < words ? x[r * words + w] : 0;
  }
}

__global__ void __launch_bounds__(kThreads)
    matmul(const int* __restrict__ a, const int* __restrict__ b, int* __restrict__ c, int m, int n,
           int words) {
  __shared__ __align__(16) int a_tile[kDepth][kTile + 4], b_tile[kDepth][kTile + 4];
  int top = blockIdx.y * kTile, left = blockIdx.x * kTile;
  int row = threadIdx.x / 16 * 4, col = threadIdx.x % 16 * 4;
  int sums[4][4] = {};
  for (int depth = 0; depth < words; depth += kDepth) {
    load_tile(a_tile, a, top, depth, m, words);
    load_tile(b_tile, b, left, depth, n, words);
    __syncthreads();
#pragma unroll
    for (int d = 0; d < kDepth; d++) {
      int4 u4 = *reinterpret_cast<const int4*>(&a_tile[d][row]);
      int4 v4 = *reinterpret_cast<const int4*>(&b_tile[d][col]);
      int u[4] = {u4.x, u4.y, u4.z, u4.w}, v[4] = {v4.x, v4.y, v4.z, v4.w};
#pragma unroll
      for (int i = 0; i < 4; i++)
#pragma unroll
        for (int j = 0; j < 4; j++) sums[i][j] = __dp4a(u[i], v[j], sums[i][j]);
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
