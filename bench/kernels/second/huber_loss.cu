// Two launches, so that few long rows use all of the GPU too: a warp adds up 1024 columns of a row,
// then a warp adds up the parts of each row.
// @scratch parts float[rows * ceil_div(cols, 1024)]
// @launch add_up<<<ceil_div(parts.size, 4), 128>>>(x, target, parts, delta, parts.size, ceil_div(cols, 1024), cols)
// @launch finish<<<ceil_div(rows, 4), 128>>>(parts, loss, rows, ceil_div(cols, 1024), cols)
constexpr int kPart = 1024;

__device__ float warp_sum(float value) {
  for (int step = 16; step > 0; step /= 2) value += __shfl_xor_sync(~0u, value, step);
  return value;
}

__global__ void __launch_bounds__(128)
    add_up(const float* __restrict__ x, const float* __restrict__ target, float* __restrict__ parts,
           float delta, int count, int each, int cols) {
  int part = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (part >= count) return;
  int first = part % each * kPart, end = min(cols, first + kPart);
  size_t row = static_cast<size_t>(part / each) * cols;
  float sum = 0.0f;
#pragma unroll 8
  for (int j = first + lane; j < end; j += 32) {
    float v = fabsf(x[row + j] - target[row + j]);
    sum += v <= delta ? 0.5f * v * v : delta * (v - 0.5f * delta);
  }
  sum = warp_sum(sum);
  if (lane == 0) parts[part] = sum;
}

__global__ void __launch_bounds__(128)
    finish(const float* __restrict__ parts, float* __restrict__ loss, int rows, int each,
           int cols) {
  int r = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (r >= rows) return;
  float sum = 0.0f;
  for (int i = lane; i < each; i += 32) sum += parts[r * each + i];
  sum = warp_sum(sum);
  if (lane == 0) loss[r] = sum / cols;
}
