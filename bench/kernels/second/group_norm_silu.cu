// One launch: a block of 16 warps for each group of each image. Neighbouring threads have the
// channels of a place, then those of the next; the group is read three times, the second and third
// time mostly from the L2 cache.
// @launch group_norm<<<batch * groups, 512>>>(x, gamma, beta, y, len, width)
constexpr int kGroups = 8, kThreads = 512, kWarps = kThreads / 32;

__device__ float block_sum(float value, float* warps) {
  for (int step = 16; step > 0; step /= 2) value += __shfl_xor_sync(~0u, value, step);
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = value;
  __syncthreads();
  value = warps[threadIdx.x % kWarps];
  for (int step = kWarps / 2; step > 0; step /= 2) value += __shfl_xor_sync(~0u, value, step);
  return value;
}

__global__ void __launch_bounds__(kThreads)
    group_norm(const float* __restrict__ x, const float* __restrict__ gamma,
               const float* __restrict__ beta, float* __restrict__ y, int len, int width) {
  __shared__ float warp_sums[kWarps], warp_squares[kWarps];
  int channels = kGroups * width, g = blockIdx.x % kGroups;
  size_t base = static_cast<size_t>(blockIdx.x / kGroups) * len * channels + g * width;
  x += base;
  y += base;
  gamma += g * width;
  beta += g * width;

  // A thread keeps its channel. Those beyond a multiple of the width are idle.
  int places = kThreads / width, place = threadIdx.x / width, c = threadIdx.x % width;
  bool idle = place >= places;
  float size = static_cast<float>(len) * width, sum = 0.0f, square = 0.0f;
#pragma unroll 4
  for (int i = place; i < len && !idle; i += places)
    sum += x[static_cast<size_t>(i) * channels + c];
  float mean = block_sum(sum, warp_sums) / size;
#pragma unroll 4
  for (int i = place; i < len && !idle; i += places) {
    float off = x[static_cast<size_t>(i) * channels + c] - mean;
    square += off * off;
  }
  float factor = rsqrtf(block_sum(square, warp_squares) / size + 1e-5f);
  if (idle) return;
  factor *= gamma[c];
  float offset = beta[c];
#pragma unroll 4
  for (int i = place; i < len; i += places) {
    float v = (x[static_cast<size_t>(i) * channels + c] - mean) * factor + offset;
    y[static_cast<size_t>(i) * channels + c] = __fdividef(v, 1.0f + __expf(-v));
  }
}
