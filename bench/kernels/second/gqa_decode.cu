// A block of 16 warps a head, in one launch: each warp has an online softmax of its own over four
// of every 64 tokens, a lane every 32nd column; the warps merge at the end. The heads of a group
// share the keys and values through the L2 cache.
// @launch decode<<<heads, 512>>>(q, keys, vals, out, scale, group, n, d)
constexpr int kThreads = 512, kWarps = kThreads / 32, kColumns = 4, kBatch = 4;

__global__ void __launch_bounds__(kThreads)
    decode(const float* __restrict__ q, const float* __restrict__ keys,
           const float* __restrict__ vals, float* __restrict__ out, float scale, int group, int n,
           int d) {
  __shared__ float accs[kWarps][32 * kColumns], tops[kWarps], sums[kWarps];
  int h = blockIdx.x, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  size_t cache = static_cast<size_t>(h / group) * n * d;
  keys += cache + lane;
  vals += cache + lane;
  float query[kColumns], acc[kColumns] = {}, top = -INFINITY, sum = 0.0f;
#pragma unroll
  for (int c = 0; c < kColumns; c++)
    query[c] = lane + 32 * c < d ? scale * q[h * d + lane + 32 * c] : 0.0f;

  for (int first = kBatch * warp; first < n; first += kBatch * kWarps) {
    float s[kBatch], v[kBatch][kColumns];
#pragma unroll
    for (int b = 0; b < kBatch; b++) {
      s[b] = 0.0f;
      bool inside = first + b < n;
#pragma unroll
      for (int c = 0; c < kColumns; c++) {
        int at = (first + b) * d + 32 * c;
        bool exists = inside && lane + 32 * c < d;
        s[b] += exists ? query[c] * keys[at] : 0.0f;
        v[b][c] = exists ? vals[at] : 0.0f;
      }
    }
    float higher = top;
#pragma unroll
    for (int b = 0; b < kBatch; b++) {
      for (int step = 16; step > 0; step /= 2) s[b] += __shfl_xor_sync(~0u, s[b], step);
      if (first + b >= n) s[b] = -INFINITY;
      higher = fmaxf(higher, s[b]);
    }
    float old = __expf(top - higher);
    top = higher;
    sum *= old;
#pragma unroll
    for (int c = 0; c < kColumns; c++) acc[c] *= old;
#pragma unroll
    for (int b = 0; b < kBatch; b++) {
      float w = __expf(s[b] - top);
      sum += w;
#pragma unroll
      for (int c = 0; c < kColumns; c++) acc[c] += w * v[b][c];
    }
  }
#pragma unroll
  for (int c = 0; c < kColumns; c++) accs[warp][lane + 32 * c] = acc[c];
  if (lane == 0) {
    tops[warp] = top;
    sums[warp] = sum;
  }
  __syncthreads();
  int c = threadIdx.x;
  if (c >= d) return;
  float highest = tops[0], total = 0.0f, result = 0.0f;
  for (int w = 1; w < kWarps; w++) highest = fmaxf(highest, tops[w]);
#pragma unroll
  for (int w = 0; w < kWarps; w++) {
    float factor = __expf(tops[w] - highest);
    total += factor * sums[w];
    result += factor * accs[w][c];
  }
  out[h * d + c] = result / total;
}
