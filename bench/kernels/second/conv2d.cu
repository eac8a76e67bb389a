// Direct: a block has a tile of 32 x 8 pixels and eight filters; each channel's tile with its
// border, and the filters' taps, pass through two buffers of shared memory. A thread has a pixel,
// whose nine neighbours serve all eight filters.
// @launch conv2d<<<dim3(ceil_div(width, 32) * ceil_div(height, 8), ceil_div(filters, 8)), 256>>>(x, w, bias, y, channels, filters, height, width)
constexpr int kWide = 32, kHigh = 8, kThreads = 256, kFilters = 8, kTaps = 9;
constexpr int kPitch = kWide + 2, kPlaces = kPitch * (kHigh + 2);

__global__ void __launch_bounds__(kThreads)
    conv2d(const float* __restrict__ x, const float* __restrict__ w, const float* __restrict__ bias,
           float* __restrict__ y, int channels, int filters, int height, int width) {
  __shared__ float tile[2][kPlaces], taps[2][kTaps][kFilters];
  int tiles_wide = (width + kWide - 1) / kWide, first = blockIdx.y * kFilters;
  int top = blockIdx.x / tiles_wide * kHigh, left = blockIdx.x % tiles_wide * kWide;
  int i = threadIdx.x / kWide, j = threadIdx.x % kWide;

  float sums[kFilters] = {};
  for (int c = 0, buffer = 0; c < channels; c++, buffer ^= 1) {
    for (int k = threadIdx.x; k < kPlaces; k += kThreads) {
      int r = top + k / kPitch - 1, s = left + k % kPitch - 1;
      bool inside = r >= 0 && r < height && s >= 0 && s < width;
      tile[buffer][k] = inside ? x[(c * height + r) * width + s] : 0.0f;
    }
    if (threadIdx.x < kTaps * kFilters) {
      int f = threadIdx.x / kTaps, t = threadIdx.x % kTaps;
      taps[buffer][t][f] = first + f < filters ? w[((first + f) * channels + c) * kTaps + t] : 0.0f;
    }
    __syncthreads();
#pragma unroll
    for (int t = 0; t < kTaps; t++) {
      float v = tile[buffer][(i + t / 3) * kPitch + j + t % 3];
#pragma unroll
      for (int f = 0; f < kFilters; f++) sums[f] = fmaf(v, taps[buffer][t][f], sums[f]);
    }
  }
  if (top + i >= height || left + j >= width) return;
#pragma unroll
  for (int f = 0; f < kFilters; f++)
    if (first + f < filters)
      y[((first + f) * height + top + i) * width + left + j] = sums[f] + bias[first + f];
}
