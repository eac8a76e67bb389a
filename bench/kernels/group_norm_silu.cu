// Chunks of 32 places of an image, a block each and a warp for each group: the mean of the group's
// part of the chunk and the squared distances to it. Then every block merges those of its image's
// groups and normalises a chunk, in the order of memory.
// @scratch means float[batch * ceil_div(len, 32) * groups]
// @scratch squares float[means.size]
// @launch chunk_stats<<<dim3(ceil_div(len, 32), batch), 256>>>(x, means, squares, len, width)
// @launch normalise<<<dim3(ceil_div(len, 32), batch), 256>>>(x, gamma, beta, means, squares, y, len, width)
constexpr int kGroups = 8, kThreads = 32 * kGroups, kChunk = 32;

__device__ float warp_sum(float value) {
  for (int step = 16; step > 0; step /= 2) value += __shfl_xor_sync(~0u, value, step);
  return value;
}

__global__ void __launch_bounds__(kThreads)
    chunk_stats(const float* __restrict__ x, float* __restrict__ means, float* __restrict__ squares,
                int len, int width) {
  int lane = threadIdx.x % 32, g = threadIdx.x / 32, channels = kGroups * width;
  int first = blockIdx.x * kChunk, size = min(kChunk, len - first) * width;
  x += (static_cast<size_t>(blockIdx.y) * len + first) * channels + g * width;
  float sum = 0.0f, square = 0.0f;
#pragma unroll 4
  for (int k = lane; k < size; k += 32) sum += x[k / width * channels + k % width];
  float mean = warp_sum(sum) / size;
#pragma unroll 4
  for (int k = lane; k < size; k += 32) {
    float off = x[k / width * channels + k % width] - mean;
    square += off * off;
  }
  square = warp_sum(square);
  if (lane == 0) {
    int at = (blockIdx.y * gridDim.x + blockIdx.x) * kGroups + g;
    means[at] = mean;
    squares[at] = square;
  }
}

__global__ void __launch_bounds__(kThreads)
    normalise(const float* __restrict__ x, const float* __restrict__ gamma,
              const float* __restrict__ beta, const float* __restrict__ means,
              const float* __restrict__ squares, float* __restrict__ y, int len, int width) {
  __shared__ float group_mean[kGroups], group_factor[kGroups];
  int lane = threadIdx.x % 32, g = threadIdx.x / 32, chunks = gridDim.x;
  means += blockIdx.y * chunks * kGroups + g;
  squares += blockIdx.y * chunks * kGroups + g;
  float total = static_cast<float>(len) * width, sum = 0.0f, square = 0.0f;
  for (int i = lane; i < chunks; i += 32)
    sum += means[i * kGroups] * (min(kChunk, len - i * kChunk) * width);
  float mean = warp_sum(sum) / total;
  for (int i = lane; i < chunks; i += 32) {
    float off = means[i * kGroups] - mean;
    square += squares[i * kGroups] + off * off * (min(kChunk, len - i * kChunk) * width);
  }
  square = warp_sum(square);
  if (lane == 0) {
    group_mean[g] = mean;
    group_factor[g] = rsqrtf(square / total + 1e-5f);
  }
  __syncthreads();

  int channels = kGroups * width, first = blockIdx.x * kChunk;
  int count = min(kChunk, len - first) * channels;
  size_t base = (static_cast<size_t>(blockIdx.y) * len + first) * channels;
#pragma unroll 4
  for (int k = threadIdx.x; k < count; k += kThreads) {
    int c = k % channels;
    float v = (x[base + k] - group_mean[c / width]) * group_factor[c / width] * gamma[c] + beta[c];
    y[base + k] = __fdividef(v, 1.0f + __expf(-v));
  }
}
