// A block a row reads it twice: first the mean and the squared distances to it in one pass, by
// Welford's update in every thread and Chan's formula between them; then, mostly from the caches,
// the elements again.
// @launch layernorm_gelu<<<rows, min(256, 32 * ceil_div(cols, 64))>>>(x, gamma, beta, y, cols)
constexpr int kMostWarps = 8;

struct Stats {
  float count = 0.0f, mean = 0.0f, squares = 0.0f;

  __device__ void merge(Stats other) {
    float total = count + other.count;
    if (total == 0.0f) return;
    float off = other.mean - mean, share = other.count / total;
    mean += off * share;
    squares += other.squares + off * off * count * share;
    count = total;
  }
};

__global__ void __launch_bounds__(32 * kMostWarps)
    layernorm_gelu(const float* __restrict__ x, const float* __restrict__ gamma,
                   const float* __restrict__ beta, float* __restrict__ y, int cols) {
  __shared__ float warps[kMostWarps][3];
  x += static_cast<size_t>(blockIdx.x) * cols;
  y += static_cast<size_t>(blockIdx.x) * cols;
  Stats stats;
#pragma unroll 4
  for (int j = threadIdx.x; j < cols; j += blockDim.x) {
    float v = x[j], off = v - stats.mean;
    stats.count += 1.0f;
    stats.mean += off / stats.count;
    stats.squares += off * (v - stats.mean);
  }
  for (int step = 16; step > 0; step /= 2) {
    Stats other;
    other.count = __shfl_down_sync(~0u, stats.count, step);
    other.mean = __shfl_down_sync(~0u, stats.mean, step);
    other.squares = __shfl_down_sync(~0u, stats.squares, step);
    stats.merge(other);
  }
  if (threadIdx.x % 32 == 0) {
    float* to = warps[threadIdx.x / 32];
    to[0] = stats.count, to[1] = stats.mean, to[2] = stats.squares;
  }
  __syncthreads();
  Stats total;
  for (int w = 0; w < blockDim.x / 32; w++) {
    Stats other;
    other.count = warps[w][0], other.mean = warps[w][1], other.squares = warps[w][2];
    total.merge(other);
  }
  float factor = rsqrtf(total.squares / cols + 1e-5f);
#pragma unroll 4
  for (int j = threadIdx.x; j < cols; j += blockDim.x) {
    float v = (x[j] - total.mean) * factor * gamma[j] + beta[j];
    y[j] = 0.5f * v * (1.0f + erff(v * 0.70710678f));
  }
}
