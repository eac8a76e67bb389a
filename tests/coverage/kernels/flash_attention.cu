// Tiled attention with online softmax in registers, head dimension by template.
template <int D, int BR, int BC>
__global__ void flash_attention(const float* __restrict__ q, const float* __restrict__ k, const float* __restrict__ v, float* __restrict__ out, int n, float scale) {
  __shared__ float ks[BC][D + 1], vs[BC][D + 1];
  const int row = blockIdx.x * BR + threadIdx.x;
  const size_t base = (size_t)blockIdx.y * n * D;
  float qr[D], acc[D], top = -INFINITY, sum = 0;
#pragma unroll
  for (int d = 0; d < D; ++d) qr[d] = row < n ? q[base + (size_t)row * D + d] * scale : 0, acc[d] = 0;
  for (int tile = 0; tile < n; tile += BC) {
    for (int i = threadIdx.x; i < BC * D; i += BR) {
      const int t = tile + i / D;
      ks[i / D][i % D] = t < n ? k[base + (size_t)t * D + i % D] : 0;
      vs[i / D][i % D] = t < n ? v[base + (size_t)t * D + i % D] : 0;
    }
    __syncthreads();
    float s[BC], now = top;
#pragma unroll
    for (int t = 0; t < BC; ++t) {
      float x = 0;
#pragma unroll
      for (int d = 0; d < D; ++d) x += qr[d] * ks[t][d];
      s[t] = tile + t < n ? x : -INFINITY;
      now = fmaxf(now, s[t]);
    }
    const float factor = __expf(top - now);
    sum *= factor;
#pragma unroll
    for (int d = 0; d < D; ++d) acc[d] *= factor;
#pragma unroll
    for (int t = 0; t < BC; ++t) {
      const float p = __expf(s[t] - now);
      sum += p;
#pragma unroll
      for (int d = 0; d < D; ++d) acc[d] += p * vs[t][d];
    }
    top = now;
    __syncthreads();
  }
  if (row < n)
#pragma unroll
    for (int d = 0; d < D; ++d) out[base + (size_t)row * D + d] = acc[d] / sum;
}
template __global__ void flash_attention<32, 64, 16>(const float*, const float*, const float*, float*, int, float);
