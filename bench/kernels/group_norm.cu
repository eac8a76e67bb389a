// Chunks of 4096 elements of a group, a block each: the mean of a chunk and the squared distances to
// it, with the chunk in registers; then every block merges those of its group and normalises its
// chunk. x comes from the L2 cache then, so y is written past it.
// @scratch means float[batch * groups * ceil_div(width * len, 4096)]
// @scratch squares float[means.size]
// @launch chunk_stats<<<dim3(ceil_div(width * len, 4096), batch * groups), 256>>>(x, means, squares, width * len)
// @launch normalise<<<dim3(ceil_div(width * len, 4096), batch * groups), 256>>>(x, gamma, beta, means, squares, y, width, len, groups)
constexpr int kThreads = 256, kEach = 16, kChunk = kEach * kThreads;

__device__ float warp_sum(float value) {
  for (int step = 16; step > 0; step /= 2) value += __shfl_xor_sync(~0u, value, step);
  return value;
}

// `warps` has an element for each warp and is used once.
__device__ float block_sum(float value, float* warps) {
  value = warp_sum(value);
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = value;
  __syncthreads();
  float sum = 0.0f;
#pragma unroll
  for (int w = 0; w < kThreads / 32; w++) sum += warps[w];
  return sum;
}

// Where element k of a thread's sixteen is in the chunk.
__device__ int place(int k, bool aligned) {
  return aligned ? k / 4 * 4 * kThreads + 4 * threadIdx.x + k % 4 : k * kThreads + threadIdx.x;
}

__device__ void load(const float* __restrict__ chunk, int count, bool aligned, float (&v)[kEach]) {
  if (aligned) {
#pragma unroll
    for (int k = 0; k < kEach; k += 4) {
      float4 part = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
      if (place(k, true) < count) part = *reinterpret_cast<const float4*>(chunk + place(k, true));
      v[k] = part.x;
      v[k + 1] = part.y;
      v[k + 2] = part.z;
      v[k + 3] = part.w;
    }
  } else {
#pragma unroll
    for (int k = 0; k < kEach; k++) v[k] = place(k, false) < count ? chunk[place(k, false)] : 0.0f;
  }
}

__global__ void __launch_bounds__(kThreads)
    chunk_stats(const float* __restrict__ x, float* __restrict__ means,
                float* __restrict__ squares, int size) {
  __shared__ float warp_sums[kThreads / 32], warp_squares[kThreads / 32];
  int first = blockIdx.x * kChunk, count = min(kChunk, size - first);
  bool aligned = size % 4 == 0;
  float v[kEach], sum = 0.0f, square = 0.0f;
  load(x + blockIdx.y * size + first, count, aligned, v);
#pragma unroll
  for (int k = 0; k < kEach; k++) sum += v[k];
  float mean = block_sum(sum, warp_sums) / count;
#pragma unroll
  for (int k = 0; k < kEach; k++)
    if (place(k, aligned) < count) square += (v[k] - mean) * (v[k] - mean);
  square = block_sum(square, warp_squares);
  if (threadIdx.x == 0) {
    means[blockIdx.y * gridDim.x + blockIdx.x] = mean;
    squares[blockIdx.y * gridDim.x + blockIdx.x] = square;
  }
}

__global__ void __launch_bounds__(kThreads)
    normalise(const float* __restrict__ x, const float* __restrict__ gamma,
              const float* __restrict__ beta, const float* __restrict__ means,
              const float* __restrict__ squares, float* __restrict__ y, int width, int len,
              int groups) {
  int size = width * len, first = blockIdx.x * kChunk, count = min(kChunk, size - first);
  int chunks = gridDim.x, lane = threadIdx.x % 32;
  bool aligned = len % 4 == 0;
  float v[kEach];
  load(x + blockIdx.y * size + first, count, aligned, v);

  means += blockIdx.y * chunks;
  squares += blockIdx.y * chunks;
  float sum = 0.0f, square = 0.0f;
  for (int i = lane; i < chunks; i += 32) sum += means[i] * min(kChunk, size - i * kChunk);
  float mean = warp_sum(sum) / size;
  for (int i = lane; i < chunks; i += 32) {
    float off = means[i] - mean;
    square += squares[i] + off * off * min(kChunk, size - i * kChunk);
  }
  float factor = rsqrtf(warp_sum(square) / size + 1e-5f);

  int first_channel = blockIdx.y % groups * width;
  float* out = y + blockIdx.y * size + first;
  if (aligned) {
#pragma unroll
    for (int k = 0; k < kEach; k += 4) {
      int j = place(k, true);
      if (j >= count) continue;
      int channel = first_channel + (first + j) / len;
      float g = gamma[channel] * factor, b = beta[channel] - mean * g;
      __stcs(reinterpret_cast<float4*>(out + j), make_float4(v[k] * g + b, v[k + 1] * g + b,
                                                             v[k + 2] * g + b, v[k + 3] * g + b));
    }
  } else {
#pragma unroll
    for (int k = 0; k < kEach; k++) {
      int j = place(k, false);
      if (j >= count) continue;
      int channel = first_channel + (first + j) / len;
      out[j] = (v[k] - mean) * factor * gamma[channel] + beta[channel];
    }
  }
}
