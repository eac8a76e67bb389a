// A warp a query. A lane computes the scores of two keys of the window, which is all there are;
// after the softmax, the weights are passed around by shuffles, and a lane has every 32nd column.
// The queries of a block are neighbours, so that keys and values come from the L1 cache.
// @launch attention<<<dim3(ceil_div(n, 8), heads), 256>>>(q, keys, vals, out, scale, n, d)
constexpr int kWindow = 64, kColumns = 4;

__global__ void __launch_bounds__(256)
    attention(const float* __restrict__ q, const float* __restrict__ keys,
              const float* __restrict__ vals, float* __restrict__ out, float scale, int n, int d) {
  int i = blockIdx.x * 8 + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (i >= n) return;
  size_t head = static_cast<size_t>(blockIdx.y) * n * d;
  const float* query = q + head + static_cast<size_t>(i) * d;
  int first = max(0, i - kWindow + 1), count = i - first + 1;
  keys += head + static_cast<size_t>(first) * d;
  vals += head + static_cast<size_t>(first) * d;

  float w[2] = {-INFINITY, -INFINITY};
#pragma unroll
  for (int k = 0; k < 2; k++) {
    if (lane + 32 * k >= count) continue;
    const float* key = keys + (lane + 32 * k) * d;
    float s = 0.0f;
    if (d % 4 == 0) {
#pragma unroll 4
      for (int e = 0; e < d; e += 4) {
        float4 u = *reinterpret_cast<const float4*>(query + e);
        float4 v = *reinterpret_cast<const float4*>(key + e);
        s += u.x * v.x + u.y * v.y + u.z * v.z + u.w * v.w;
      }
    } else {
#pragma unroll 4
      for (int e = 0; e < d; e++) s += query[e] * key[e];
    }
    w[k] = scale * s;
  }
  float top = fmaxf(w[0], w[1]);
  for (int step = 16; step > 0; step /= 2) top = fmaxf(top, __shfl_xor_sync(~0u, top, step));
  w[0] = __expf(w[0] - top);
  w[1] = __expf(w[1] - top);
  float sum = w[0] + w[1];
  for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(~0u, sum, step);

  float acc[kColumns] = {};
#pragma unroll
  for (int k = 0; k < 2; k++) {
    int end = min(32, count - 32 * k);
#pragma unroll 4
    for (int t = 0; t < end; t++) {
      float weight = __shfl_sync(~0u, w[k], t);
      const float* row = vals + (t + 32 * k) * d + lane;
#pragma unroll
      for (int c = 0; c < kColumns; c++)
        if (lane + 32 * c < d) acc[c] += weight * row[32 * c];
    }
  }
#pragma unroll
  for (int c = 0; c < kColumns; c++)
    if (lane + 32 * c < d) out[head + static_cast<size_t>(i) * d + lane + 32 * c] = acc[c] / sum;
}
