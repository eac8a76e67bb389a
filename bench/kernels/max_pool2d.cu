// A thread has four outputs, one below the other: the maximum over each of the nine input rows is
// computed once, and the one that two outputs share is kept.
// @launch max_pool2d<<<dim3(ceil_div(wide, 32), ceil_div(high, 32), planes), dim3(32, 8)>>>(x, y, height, width, high, wide)
constexpr int kEach = 4;

__global__ void __launch_bounds__(256)
    max_pool2d(const float* __restrict__ x, float* __restrict__ y, int height, int width, int high,
               int wide) {
  int j = blockIdx.x * 32 + threadIdx.x, first = (blockIdx.y * 8 + threadIdx.y) * kEach;
  if (j >= wide || first >= high) return;
  x += static_cast<size_t>(blockIdx.z) * height * width;
  y += static_cast<size_t>(blockIdx.z) * high * wide;
  auto row_max = [&](int r) {
    if (r < 0 || r >= height) return -INFINITY;
    const float* at = x + r * width + 2 * j;
    float top = at[0];
    if (j > 0) top = fmaxf(top, at[-1]);
    if (2 * j + 1 < width) top = fmaxf(top, at[1]);
    return top;
  };
  float above = row_max(2 * first - 1);
#pragma unroll
  for (int k = 0; k < kEach; k++) {
    int i = first + k;
    float middle = row_max(2 * i), below = row_max(2 * i + 1);
    if (i < high) y[i * wide + j] = fmaxf(above, fmaxf(middle, below));
    above = below;
  }
}
