// A matrix product whose rows are filters, whose columns are pixels and whose depth is channels
// times taps: tiles of 64 x 64 a block, 4 x 4 in the registers of a thread. A thread
// gathers one pixel's part of the depth, so that its place is computed once.
// @launch conv2d<<<dim3(ceil_div(height * width, 64), ceil_div(filters, 64)), 256>>>(x, w, bias, y, channels, filters, height, width)
constexpr int kTile = 64, kDepth = 16, kThreads = 256, kTaps = 9;

__global__ void __launch_bounds__(kThreads)
    conv2d(const float* __restrict__ x, const float* __restrict__ w, const float* __restrict__ bias,
           float* __restrict__ y, int channels, int filters, int height, int width) {
  __shared__ __align__(16) float w_tile[kDepth][kTile + 4];  // transposed
  __shared__ __align__(16) float x_tile[kDepth][kTile];
  int pixels = height * width, depth_end = channels * kTaps;
  int top = blockIdx.y * kTile, left = blockIdx.x * kTile;
  int row = threadIdx.x / 16 * 4, col = threadIdx.x % 16 * 4;

  // The pixel that this thread gathers, and every fourth of the depth.
  int pixel = left + threadIdx.x % kTile, first_depth = threadIdx.x / kTile;
  int i = pixel / width, j = pixel % width;

  float sums[4][4] = {};
  for (int depth = 0; depth < depth_end; depth += kDepth) {
#pragma unroll
    for (int k = 0; k < kDepth; k += 4) {
      int e = depth + first_depth + k, c = e / kTaps, r = i + e % kTaps / 3 - 1, s = j + e % 3 - 1;
      bool inside = pixel < pixels && e < depth_end && r >= 0 && r < height && s >= 0 && s < width;
      x_tile[first_depth + k][threadIdx.x % kTile] = inside ? x[c * pixels + r * width + s] : 0.0f;
    }
#pragma unroll
    for (int k = threadIdx.x; k < kTile * kDepth; k += kThreads) {
      int f = top + k / kDepth, e = depth + k % kDepth;
      w_tile[k % kDepth][k / kDepth] = f < filters && e < depth_end ? w[f * depth_end + e] : 0.0f;
    }
    __syncthreads();
#pragma unroll
    for (int d = 0; d < kDepth; d++) {
      float4 u4 = *reinterpret_cast<const float4*>(&w_tile[d][row]);
      float4 v4 = *reinterpret_cast<const float4*>(&x_tile[d][col]);
      float u[4] = {u4.x, u4.y, u4.z, u4.w}, v[4] = {v4.x, v4.y, v4.z, v4.w};
#pragma unroll
      for (int m = 0; m < 4; m++)
#pragma unroll
        for (int n = 0; n < 4; n++) sums[m][n] = fmaf(u[m], v[n], sums[m][n]);
    }
    __syncthreads();
  }
#pragma unroll
  for (int n = 0; n < 4; n++) {
    int p = left + col + n;
    if (p >= pixels) continue;
    float* to = y + (top + row) * pixels + p;
#pragma unroll
    for (int m = 0; m < 4; m++)
      if (top + row + m < filters) to[m * pixels] = sums[m][n] + bias[top + row + m];
  }
}
