// A thread has a column of 16 rows of a plane and keeps the three rows that it needs in registers:
// each row is read once, its neighbours to the left and right from the L1 cache.
// @launch depthwise<<<dim3(ceil_div(width, 32), ceil_div(height, 64), batch * channels), dim3(32, 4)>>>(x, w, y, channels, height, width)
constexpr int kRows = 16;

__global__ void __launch_bounds__(128)
    depthwise(const float* __restrict__ x, const float* __restrict__ w, float* __restrict__ y,
              int channels, int height, int width) {
  int j = blockIdx.x * 32 + threadIdx.x, first = (blockIdx.y * 4 + threadIdx.y) * kRows;
  if (j >= width || first >= height) return;
  size_t plane = static_cast<size_t>(blockIdx.z) * height * width;
  x += plane + j;
  y += plane + j;
  w += blockIdx.z % channels * 9;
  float taps[9];
#pragma unroll
  for (int t = 0; t < 9; t++) taps[t] = w[t];

  float rows[3][3];
  auto load = [&](float(&row)[3], int i) {
    bool inside = i >= 0 && i < height;
    row[0] = inside && j > 0 ? x[i * width - 1] : 0.0f;
    row[1] = inside ? x[i * width] : 0.0f;
    row[2] = inside && j + 1 < width ? x[i * width + 1] : 0.0f;
  };
  load(rows[0], first - 1);
  load(rows[1], first);
#pragma unroll
  for (int k = 0; k < kRows; k++) {
    if (first + k >= height) return;
    load(rows[(k + 2) % 3], first + k + 1);
    float sum = 0.0f;
#pragma unroll
    for (int t = 0; t < 9; t++) sum += rows[(k + t / 3) % 3][t % 3] * taps[t];
    y[(first + k) * width] = sum;
  }
}
