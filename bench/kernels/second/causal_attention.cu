// A block has two neighbouring queries of a head, whose scores it keeps in shared memory: every
// thread has its own keys for them; after the softmax, groups of threads divide the keys among them
// and each thread has a column.
// @launch attention<<<dim3(ceil_div(n, 2), heads), 256>>>(q, keys, vals, out, scale, n, d)
constexpr int kThreads = 256, kWarps = kThreads / 32, kMostKeys = 4096, kMostDepth = 128;

template <class Combine>
__device__ float2 block_reduce(float2 value, float2 (&warps)[kWarps], Combine combine) {
  for (int step = 16; step > 0; step /= 2) {
    value.x = combine(value.x, __shfl_xor_sync(~0u, value.x, step));
    value.y = combine(value.y, __shfl_xor_sync(~0u, value.y, step));
  }
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = value;
  __syncthreads();
  value = warps[0];
  for (int w = 1; w < kWarps; w++) {
    value.x = combine(value.x, warps[w].x);
    value.y = combine(value.y, warps[w].y);
  }
  return value;
}

__global__ void __launch_bounds__(kThreads)
    attention(const float* __restrict__ q, const float* __restrict__ keys,
              const float* __restrict__ vals, float* __restrict__ out, float scale, int n, int d) {
  __shared__ float2 scores[kMostKeys];
  __shared__ float2 queries[kMostDepth], parts[kThreads], tops[kWarps], sums[kWarps];
  size_t head = static_cast<size_t>(blockIdx.y) * n * d;
  int i = 2 * (gridDim.x - 1 - blockIdx.x);
  bool both = i + 1 < n;
  const float* own = q + head + static_cast<size_t>(i) * d;
  for (int e = threadIdx.x; e < d; e += kThreads)
    queries[e] = make_float2(scale * own[e], both ? scale * own[d + e] : 0.0f);
  __syncthreads();

  int end = both ? i + 2 : i + 1;
  float2 top = make_float2(-INFINITY, -INFINITY);
  for (int t = threadIdx.x; t < end; t += kThreads) {
    const float* key = keys + head + static_cast<size_t>(t) * d;
    float2 s = {};
#pragma unroll 8
    for (int e = 0; e < d; e++) {
      s.x += queries[e].x * key[e];
      s.y += queries[e].y * key[e];
    }
    if (t > i) s.x = -INFINITY;
    scores[t] = s;
    top = make_float2(fmaxf(top.x, s.x), fmaxf(top.y, s.y));
  }
  top = block_reduce(top, tops, [](float a, float b) { return fmaxf(a, b); });
  float2 sum = {};
  for (int t = threadIdx.x; t < end; t += kThreads) {
    float2 w = make_float2(__expf(scores[t].x - top.x), __expf(scores[t].y - top.y));
    scores[t] = w;
    sum = make_float2(sum.x + w.x, sum.y + w.y);
  }
  sum = block_reduce(sum, sums, [](float a, float b) { return a + b; });

  int groups = kThreads / d, group = threadIdx.x / d, c = threadIdx.x % d;
  float2 acc = {};
  if (group < groups) {
    const float* column = vals + head + c;
#pragma unroll 4
    for (int t = group; t < end; t += groups) {
      float v = column[static_cast<size_t>(t) * d];
      acc.x += scores[t].x * v;
      acc.y += scores[t].y * v;
    }
  }
  parts[threadIdx.x] = acc;
  __syncthreads();
  if (group > 0) return;
  for (int g = 1; g < groups; g++) {
    acc.x += parts[g * d + c].x;
    acc.y += parts[g * d + c].y;
  }
  float* to = out + head + static_cast<size_t>(i) * d + c;
  to[0] = acc.x / sum.x;
  if (both) to[d] = acc.y / sum.y;
}
