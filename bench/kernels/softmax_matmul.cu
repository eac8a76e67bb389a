// A warp a row finds the row's maximum and the sum of its exponentials; then a matrix product in tiles
// of 64 x 128 a block, 4 x 8 in the registers of a thread, which exponentiates s on its way to shared
// memory. The next 16 of the depth are loaded while the current ones are multiplied.
// @scratch tops float[m]
// @scratch factors float[m]
// @launch row_factors<<<ceil_div(m, 8), 256>>>(s, tops, factors, m, k)
// @launch weighted<<<dim3(ceil_div(n, 128), ceil_div(m, 64)), 256>>>(s, v, tops, factors, y, m, n, k)
constexpr int kRows = 64, kCols = 128, kDepth = 16, kThreads = 256, kMostDepth = 1024;

// Four neighbouring elements of a matrix, `outside` beyond it.
__device__ float4 load4(const float* __restrict__ x, int r, int c, int rows, int cols,
                        float outside) {
  const float* at = x + r * cols + c;
  if (r >= rows || c >= cols) return make_float4(outside, outside, outside, outside);
  if (cols % 4 == 0) return *reinterpret_cast<const float4*>(at);
  return make_float4(at[0], c + 1 < cols ? at[1] : outside, c + 2 < cols ? at[2] : outside,
                     c + 3 < cols ? at[3] : outside);
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

__global__ void __launch_bounds__(kThreads)
    row_factors(const float* __restrict__ s, float* __restrict__ tops,
                float* __restrict__ factors, int m, int k) {
  int r = blockIdx.x * (kThreads / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (r >= m) return;
  float own[kMostDepth / 32], top = -INFINITY, sum = 0.0f;
#pragma unroll
  for (int i = 0; i < kMostDepth / 32; i++)
    own[i] = lane + 32 * i < k ? s[r * k + lane + 32 * i] : -INFINITY;
#pragma unroll
  for (int i = 0; i < kMostDepth / 32; i++) top = fmaxf(top, own[i]);
  for (int step = 16; step > 0; step /= 2) top = fmaxf(top, __shfl_xor_sync(~0u, top, step));
#pragma unroll
  for (int i = 0; i < kMostDepth / 32; i++) sum += __expf(own[i] - top);
  for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(~0u, sum, step);
  if (lane == 0) {
    tops[r] = top;
    factors[r] = 1.0f / sum;
  }
}

__global__ void __launch_bounds__(kThreads)
    weighted(const float* __restrict__ s, const float* __restrict__ v,
             const float* __restrict__ tops, const float* __restrict__ factors,
             float* __restrict__ y, int m, int n, int k) {
  __shared__ __align__(16) float s_tile[2][kDepth][kRows + 4];  // transposed
  __shared__ __align__(16) float v_tile[2][kDepth][kCols];
  int top = blockIdx.y * kRows, left = blockIdx.x * kCols;
  int s_row = threadIdx.x / 4, s_depth = threadIdx.x % 4 * 4;
  int v_depth = threadIdx.x / 32, v_col = threadIdx.x % 32 * 4;
  float row_top = top + s_row < m ? tops[top + s_row] : 0.0f;

  float4 next_s, next_v[2];
  auto load = [&](int depth) {
    next_s = load4(s, top + s_row, depth + s_depth, m, k, -INFINITY);
#pragma unroll
    for (int i = 0; i < 2; i++)
      next_v[i] = load4(v, depth + v_depth + 8 * i, left + v_col, k, n, 0.0f);
  };
  auto store = [&](int buffer) {
    s_tile[buffer][s_depth][s_row] = __expf(next_s.x - row_top);
    s_tile[buffer][s_depth + 1][s_row] = __expf(next_s.y - row_top);
    s_tile[buffer][s_depth + 2][s_row] = __expf(next_s.z - row_top);
    s_tile[buffer][s_depth + 3][s_row] = __expf(next_s.w - row_top);
#pragma unroll
    for (int i = 0; i < 2; i++)
      *reinterpret_cast<float4*>(&v_tile[buffer][v_depth + 8 * i][v_col]) = next_v[i];
  };

  // A warp has 32 x 32 of the tile; a thread four rows by two times four columns.
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  int row = warp / 4 * 32 + lane / 4 * 4, col = warp % 4 * 32 + lane % 4 * 4;
  float sums[4][8] = {};
  load(0);
  store(0);
  __syncthreads();
  int buffer = 0;
  for (int depth = 0; depth < k; depth += kDepth, buffer ^= 1) {
    if (depth + kDepth < k) load(depth + kDepth);
#pragma unroll
    for (int d = 0; d < kDepth; d++) {
      float4 a = *reinterpret_cast<const float4*>(&s_tile[buffer][d][row]);
      float4 b0 = *reinterpret_cast<const float4*>(&v_tile[buffer][d][col]);
      float4 b1 = *reinterpret_cast<const float4*>(&v_tile[buffer][d][col + 16]);
      float w[4] = {a.x, a.y, a.z, a.w};
      float u[8] = {b0.x, b0.y, b0.z, b0.w, b1.x, b1.y, b1.z, b1.w};
#pragma unroll
      for (int i = 0; i < 4; i++)
#pragma unroll
        for (int j = 0; j < 8; j++) sums[i][j] = fmaf(w[i], u[j], sums[i][j]);
    }
    if (depth + kDepth < k) store(buffer ^ 1);
    __syncthreads();
  }

#pragma unroll
  for (int i = 0; i < 4; i++) {
    int r = top + row + i;
    float f = r < m ? factors[r] : 0.0f;
#pragma unroll
    for (int j = 0; j < 8; j += 4) {
      float4 out = make_float4(sums[i][j] * f, sums[i][j + 1] * f, sums[i][j + 2] * f,
                               sums[i][j + 3] * f);
      store4(y, out, r, left + col + 4 * j, m, n);
    }
  }
}
