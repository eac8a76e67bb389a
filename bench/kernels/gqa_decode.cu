// The cache is split into chunks of 256 tokens, a block each, which serves all heads of the group:
// keys and values are read once. A second launch merges the chunks of each head.
// @scratch parts float[heads * ceil_div(n, 256) * d]
// @scratch tops float[heads * ceil_div(n, 256)]
// @scratch sums float[tops.size]
// @launch chunks<<<dim3(ceil_div(n, 256), caches), 256>>>(q, keys, vals, parts, tops, sums, scale, group, n, d)
// @launch merge<<<heads, 128>>>(parts, tops, sums, out, ceil_div(n, 256), d)
constexpr int kThreads = 256, kWarps = kThreads / 32, kChunk = 256, kMostHeads = 8,
              kMostDepth = 128;
constexpr int kColumns = kMostDepth / 32;

__device__ float warp_max(float value) {
  for (int step = 16; step > 0; step /= 2) value = fmaxf(value, __shfl_xor_sync(~0u, value, step));
  return value;
}
__device__ float warp_sum(float value) {
  for (int step = 16; step > 0; step /= 2) value += __shfl_xor_sync(~0u, value, step);
  return value;
}

__global__ void __launch_bounds__(kThreads)
    chunks(const float* __restrict__ q, const float* __restrict__ keys,
           const float* __restrict__ vals, float* __restrict__ parts, float* __restrict__ tops,
           float* __restrict__ sums, float scale, int group, int n, int d) {
  __shared__ float scores[kMostHeads][kChunk], other_half[kMostHeads][kMostDepth];
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  int first = blockIdx.x * kChunk, count = min(kChunk, n - first);
  size_t cache = (static_cast<size_t>(blockIdx.y) * n + first) * d;
  keys += cache;
  vals += cache;
  q += blockIdx.y * group * d;

  // A warp a token, a lane every 32nd element of the key and of the queries.
  float query[kMostHeads][kColumns];
#pragma unroll
  for (int h = 0; h < kMostHeads; h++)
#pragma unroll
    for (int c = 0; c < kColumns; c++)
      query[h][c] = h < group && lane + 32 * c < d ? scale * q[h * d + lane + 32 * c] : 0.0f;
#pragma unroll 2
  for (int t = warp; t < count; t += kWarps) {
    float key[kColumns];
#pragma unroll
    for (int c = 0; c < kColumns; c++)
      key[c] = lane + 32 * c < d ? __ldcs(keys + t * d + lane + 32 * c) : 0.0f;
#pragma unroll
    for (int h = 0; h < kMostHeads; h++) {
      if (h >= group) break;
      float s = 0.0f;
#pragma unroll
      for (int c = 0; c < kColumns; c++) s += query[h][c] * key[c];
      s = warp_sum(s);
      if (lane == 0) scores[h][t] = s;
    }
  }
  __syncthreads();

  int head = blockIdx.y * group;
  for (int h = warp; h < group; h += kWarps) {
    float top = -INFINITY, sum = 0.0f;
    for (int t = lane; t < count; t += 32) top = fmaxf(top, scores[h][t]);
    top = warp_max(top);
    for (int t = lane; t < count; t += 32) {
      float w = __expf(scores[h][t] - top);
      scores[h][t] = w;
      sum += w;
    }
    sum = warp_sum(sum);
    if (lane == 0) {
      tops[(head + h) * gridDim.x + blockIdx.x] = top;
      sums[(head + h) * gridDim.x + blockIdx.x] = sum;
    }
  }
  __syncthreads();

  // A thread a column, for one half of the tokens.
  int c = threadIdx.x % kMostDepth, half = threadIdx.x / kMostDepth;
  float acc[kMostHeads] = {};
  if (c < d) {
#pragma unroll 4
    for (int t = half; t < count; t += 2) {
      float v = __ldcs(vals + t * d + c);
#pragma unroll
      for (int h = 0; h < kMostHeads; h++)
        if (h < group) acc[h] += scores[h][t] * v;
    }
  }
  if (half == 1) {
#pragma unroll
    for (int h = 0; h < kMostHeads; h++) other_half[h][c] = acc[h];
  }
  __syncthreads();
  if (half == 1 || c >= d) return;
#pragma unroll
  for (int h = 0; h < kMostHeads; h++)
    if (h < group) parts[((head + h) * gridDim.x + blockIdx.x) * d + c] = acc[h] + other_half[h][c];
}

__global__ void __launch_bounds__(128)
    merge(const float* __restrict__ parts, const float* __restrict__ tops,
          const float* __restrict__ sums, float* __restrict__ out, int count, int d) {
  int h = blockIdx.x, c = threadIdx.x;
  float top = -INFINITY, sum = 0.0f, acc = 0.0f;
  if (c >= d) return;
  for (int i = 0; i < count; i++) top = fmaxf(top, tops[h * count + i]);
#pragma unroll 4
  for (int i = 0; i < count; i++) {
    float factor = __expf(tops[h * count + i] - top);
    sum += factor * sums[h * count + i];
    acc += factor * parts[(h * count + i) * d + c];
  }
  out[h * d + c] = acc / sum;
}
