// Tiles of 32 x 32 of a plane with their border in shared memory; a thread computes four pixels,
// one below the other, from six rows.
// @launch depthwise<<<dim3(ceil_div(width, 32), ceil_div(height, 32), batch * channels), dim3(32, 8)>>>(x, w, y, channels, height, width)
constexpr int kTile = 32, kEach = 4, kPitch = kTile + 2;

__global__ void __launch_bounds__(256)
    depthwise(const float* __restrict__ x, const float* __restrict__ w, float* __restrict__ y,
              int channels, int height, int width) {
  __shared__ float tile[kPitch * kPitch], taps[9];
  int top = blockIdx.y * kTile, left = blockIdx.x * kTile, thread = threadIdx.y * 32 + threadIdx.x;
  size_t plane = static_cast<size_t>(blockIdx.z) * height * width;
  for (int k = thread; k < kPitch * kPitch; k += 256) {
    int r = top + k / kPitch - 1, s = left + k % kPitch - 1;
    bool inside = r >= 0 && r < height && s >= 0 && s < width;
    tile[k] = inside ? x[plane + r * width + s] : 0.0f;
  }
  if (thread < 9) taps[thread] = w[blockIdx.z % channels * 9 + thread];
  __syncthreads();
  int i = threadIdx.y * kEach, j = threadIdx.x;
  float sums[kEach] = {};
#pragma unroll
  for (int r = 0; r < kEach + 2; r++) {
#pragma unroll
    for (int v = 0; v < 3; v++) {
      float value = tile[(i + r) * kPitch + j + v];
#pragma unroll
      for (int k = 0; k < kEach; k++)
        if (r >= k && r < k + 3) sums[k] += value * taps[(r - k) * 3 + v];
    }
  }
#pragma unroll
  for (int k = 0; k < kEach; k++)
    if (top + i + k < height && left + j < width)
      y[plane + (top + i + k) * width + left + j] = sums[k];
}
