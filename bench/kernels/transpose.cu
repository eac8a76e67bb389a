// Tiles of 64 x 64 through shared memory with padded rows; float4 on either side whose rows are
// aligned, four in flight a thread.
// @launch transpose<<<dim3(ceil_div(cols, 64), ceil_div(rows, 64)), 256>>>(x, y, rows, cols)
constexpr int kTile = 64, kThreads = 256;

__global__ void __launch_bounds__(kThreads)
    transpose(const float* __restrict__ x, float* __restrict__ y, int rows, int cols) {
  __shared__ float tile[kTile][kTile + 1];
  int top = blockIdx.y * kTile, left = blockIdx.x * kTile;
  if (cols % 4 == 0) {
    int c = threadIdx.x % 16 * 4;
    float4 v[4];
#pragma unroll
    for (int k = 0; k < 4; k++) {
      int r = threadIdx.x / 16 + 16 * k;
      if (top + r < rows && left + c < cols)
        v[k] = *reinterpret_cast<const float4*>(x + (top + r) * cols + left + c);
    }
#pragma unroll
    for (int k = 0; k < 4; k++) {
      float* to = &tile[threadIdx.x / 16 + 16 * k][c];
      to[0] = v[k].x;
      to[1] = v[k].y;
      to[2] = v[k].z;
      to[3] = v[k].w;
    }
  } else {
    int c = threadIdx.x % kTile;
#pragma unroll 8
    for (int r = threadIdx.x / kTile; r < kTile; r += kThreads / kTile)
      if (top + r < rows && left + c < cols) tile[r][c] = x[(top + r) * cols + left + c];
  }
  __syncthreads();
  if (rows % 4 == 0) {
    int r = threadIdx.x % 16 * 4;
#pragma unroll
    for (int c = threadIdx.x / 16; c < kTile; c += kThreads / 16)
      if (left + c < cols && top + r < rows)
        *reinterpret_cast<float4*>(y + (left + c) * rows + top + r) =
            make_float4(tile[r][c], tile[r + 1][c], tile[r + 2][c], tile[r + 3][c]);
  } else {
    int r = threadIdx.x % kTile;
#pragma unroll 8
    for (int c = threadIdx.x / kTile; c < kTile; c += kThreads / kTile)
      if (left + c < cols && top + r < rows) y[(left + c) * rows + top + r] = tile[r][c];
  }
}
