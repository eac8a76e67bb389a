// Tiles of 128 x 128 a block, 8 x 8 in the registers of a thread. The next 16 of the depth are loaded
// into registers while the current ones are multiplied, and stored to the other shared buffer.
// @launch matmul<<<dim3(ceil_div(n, 128), ceil_div(m, 128)), 256>>>(a, b, c, m, n, k)
constexpr int kTile = 128, kDepth = 16, kThreads = 256;

// Four neighbouring elements of a matrix, 0 outside.
__device__ float4 load4(const float* __restrict__ x, int r, int c, int rows, int cols) {
  const float* at = x + r * cols + c;
  if (r >= rows || c >= cols) return make_float4(0.0f, 0.0f, 0.0f, 0.0f);
  if (cols % 4 == 0) return *reinterpret_cast<const float4*>(at);
  return make_float4(at[0], c + 1 < cols ? at[1] : 0.0f, c + 2 < cols ? at[2] : 0.0f,
                     c + 3 < cols ? at[3] : 0.0f);
}

__device__ void store4(float* __restrict__ y, float4 v, int r, int c, int rows, int cols) {
  float* at = y + r * cols + c;
  if (r >= rows || c >= cols) return;
  if (cols % 4 == 0) {
    *reinterpret_cast<float4*>(at) = v;
    return;
  }
  at[0] = v.x;
  if (c + 1 < cols) at[1] = v.y;
  if (c + 2 < cols) at[2] = v.z;
  if (c + 3 < cols) at[3] = v.w;
}

__global__ void __launch_bounds__(kThreads, 2)
    matmul(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, int m,
           int n, int k) {
  __shared__ __align__(16) float a_tile[2][kDepth][kTile + 4];  // transposed
  __shared__ __align__(16) float b_tile[2][kDepth][kTile];
  int top = blockIdx.y * kTile, left = blockIdx.x * kTile;
  int a_row = threadIdx.x / 4, a_depth = threadIdx.x % 4 * 4;
  int b_depth = threadIdx.x / 32, b_col = threadIdx.x % 32 * 4;

  float4 next_a[2], next_b[2];
  auto load = [&](int depth) {
#pragma unroll
    for (int i = 0; i < 2; i++) {
      next_a[i] = load4(a, top + a_row + 64 * i, depth + a_depth, m, k);
      next_b[i] = load4(b, depth + b_depth + 8 * i, left + b_col, k, n);
    }
  };
  auto store = [&](int buffer) {
#pragma unroll
    for (int i = 0; i < 2; i++) {
      a_tile[buffer][a_depth][a_row + 64 * i] = next_a[i].x;
      a_tile[buffer][a_depth + 1][a_row + 64 * i] = next_a[i].y;
      a_tile[buffer][a_depth + 2][a_row + 64 * i] = next_a[i].z;
      a_tile[buffer][a_depth + 3][a_row + 64 * i] = next_a[i].w;
      *reinterpret_cast<float4*>(&b_tile[buffer][b_depth + 8 * i][b_col]) = next_b[i];
    }
  };

  // A warp has 64 x 32 of the tile; a thread two times four rows by two times four columns.
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  int row = warp / 4 * 64 + lane / 4 * 4, col = warp % 4 * 32 + lane % 4 * 4;
  float sums[8][8] = {};
  load(0);
  store(0);
  __syncthreads();
  int buffer = 0;
  for (int depth = 0; depth < k; depth += kDepth, buffer ^= 1) {
    if (depth + kDepth < k) load(depth + kDepth);
#pragma unroll
    for (int d = 0; d < kDepth; d++) {
      float4 a0 = *reinterpret_cast<const float4*>(&a_tile[buffer][d][row]);
      float4 a1 = *reinterpret_cast<const float4*>(&a_tile[buffer][d][row + 32]);
      float4 b0 = *reinterpret_cast<const float4*>(&b_tile[buffer][d][col]);
      float4 b1 = *reinterpret_cast<const float4*>(&b_tile[buffer][d][col + 16]);
      float u[8] = {a0.x, a0.y, a0.z, a0.w, a1.x, a1.y, a1.z, a1.w};
      float v[8] = {b0.x, b0.y, b0.z, b0.w, b1.x, b1.y, b1.z, b1.w};
#pragma unroll
      for (int i = 0; i < 8; i++)
#pragma unroll
        for (int j = 0; j < 8; j++) sums[i][j] = fmaf(u[i], v[j], sums[i][j]);
    }
    if (depth + kDepth < k) store(buffer ^ 1);
    __syncthreads();
  }

#pragma unroll
  for (int i = 0; i < 8; i++) {
    int r = top + row + i / 4 * 32 + i % 4;
#pragma unroll
    for (int j = 0; j < 8; j += 4) {
      float4 v = make_float4(sums[i][j], sums[i][j + 1], sums[i][j + 2], sums[i][j + 3]);
      store4(c, v, r, left + col + 4 * j, m, n);
    }
  }
}
