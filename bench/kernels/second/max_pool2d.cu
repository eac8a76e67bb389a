// In two steps through shared memory: the maxima of three neighbours in the 33 rows that a tile of
// 32 x 16 outputs needs, which are read by whole warps; then of three rows.
// @launch max_pool2d<<<dim3(ceil_div(wide, 32), ceil_div(high, 16), planes), 256>>>(x, y, height, width, high, wide)
constexpr int kWide = 32, kHigh = 16, kRows = 2 * kHigh + 1;

__global__ void __launch_bounds__(256)
    max_pool2d(const float* __restrict__ x, float* __restrict__ y, int height, int width, int high,
               int wide) {
  __shared__ float maxima[kRows][kWide];
  int left = blockIdx.x * kWide, top = blockIdx.y * kHigh, j = threadIdx.x % kWide;
  int s = 2 * (left + j);
  x += static_cast<size_t>(blockIdx.z) * height * width;
#pragma unroll
  for (int k = threadIdx.x / kWide; k < kRows; k += 8) {
    int r = 2 * top - 1 + k;
    float value = -INFINITY;
    if (r >= 0 && r < height) {
      if (s < width) value = x[r * width + s];
      if (s > 0 && s - 1 < width) value = fmaxf(value, x[r * width + s - 1]);
      if (s + 1 < width) value = fmaxf(value, x[r * width + s + 1]);
    }
    maxima[k][j] = value;
  }
  __syncthreads();
#pragma unroll
  for (int i = threadIdx.x / kWide; i < kHigh; i += 8)
    if (top + i < high && left + j < wide)
      y[(static_cast<size_t>(blockIdx.z) * high + top + i) * wide + left + j] =
          fmaxf(maxima[2 * i][j], fmaxf(maxima[2 * i + 1][j], maxima[2 * i + 2][j]));
}
