// A matrix product whose rows are filters with their four taps and whose columns are input pixels:
// tiles of 64 x 64 a block. The four rows of a thread are the four taps of a filter, so that it
// stores 2 x 2 outputs for each of its four pixels.
// @launch conv<<<dim3(ceil_div(height * width, 64), ceil_div(filters, 16)), 256>>>(x, w, y, channels, filters, height, width)
constexpr int kTile = 64, kDepth = 16, kThreads = 256;

__global__ void __launch_bounds__(kThreads)
    conv(const float* __restrict__ x, const float* __restrict__ w, float* __restrict__ y,
         int channels, int filters, int height, int width) {
  __shared__ __align__(16) float w_tile[kDepth][kTile], x_tile[kDepth][kTile];
  int pixels = height * width, left = blockIdx.x * kTile;
  int top = blockIdx.y * kTile, row = threadIdx.x / 16 * 4, col = threadIdx.x % 16;
  int own = threadIdx.x % kTile, pixel = left + own;
  float sums[4][4] = {};
  for (int depth = 0; depth < channels; depth += kDepth) {
#pragma unroll
    for (int k = threadIdx.x / kTile; k < kDepth; k += kThreads / kTile) {
      int c = depth + k;
      x_tile[k][own] = pixel < pixels && c < channels ? x[c * pixels + pixel] : 0.0f;
      w_tile[k][own] =
          top + own < 4 * filters && c < channels ? w[c * 4 * filters + top + own] : 0.0f;
    }
    __syncthreads();
#pragma unroll
    for (int d = 0; d < kDepth; d++) {
      float4 u4 = *reinterpret_cast<const float4*>(&w_tile[d][row]);
      float u[4] = {u4.x, u4.y, u4.z, u4.w};
#pragma unroll
      for (int n = 0; n < 4; n++) {
        float v = x_tile[d][col + 16 * n];
#pragma unroll
        for (int m = 0; m < 4; m++) sums[m][n] = fmaf(u[m], v, sums[m][n]);
      }
    }
    __syncthreads();
  }
  int f = (top + row) / 4;
  if (f >= filters) return;
#pragma unroll
  for (int n = 0; n < 4; n++) {
    int p = left + col + 16 * n;
    if (p >= pixels) continue;
    int i = p / width, j = p % width;
    float* to = y + (static_cast<size_t>(f) * 2 * height + 2 * i) * 2 * width + 2 * j;
    *reinterpret_cast<float2*>(to) = make_float2(sums[0][n], sums[1][n]);
    *reinterpret_cast<float2*>(to + 2 * width) = make_float2(sums[2][n], sums[3][n]);
  }
}
