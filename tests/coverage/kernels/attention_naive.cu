// Scores, softmax and values in one kernel, a block a query.
__global__ void attention_naive(const float* q, const float* k, const float* v, float* out, int length, int dim, float scale, bool causal) {
  extern __shared__ float memory[];
  float* scores = memory;
  float* query = memory + length;
  __shared__ float top, sum;
  const int head = blockIdx.y, row = blockIdx.x, many = causal ? row + 1 : length;
  const size_t base = (size_t)head * length * dim;
  for (int d = threadIdx.x; d < dim; d += blockDim.x) query[d] = q[base + (size_t)row * dim + d] * scale;
  __syncthreads();
  for (int t = threadIdx.x; t < many; t += blockDim.x) {
    float s = 0;
    for (int d = 0; d < dim; ++d) s += query[d] * k[base + (size_t)t * dim + d];
    scores[t] = s;
  }
  __syncthreads();
  if (threadIdx.x < 32) {
    float m = -INFINITY, s = 0;
    for (int t = threadIdx.x; t < many; t += 32) m = fmaxf(m, scores[t]);
    for (int o = 16; o; o /= 2) m = fmaxf(m, __shfl_xor_sync(~0u, m, o));
    for (int t = threadIdx.x; t < many; t += 32) s += scores[t] = expf(scores[t] - m);
    for (int o = 16; o; o /= 2) s += __shfl_xor_sync(~0u, s, o);
    if (threadIdx.x == 0) top = m, sum = s;
  }
  __syncthreads();
  for (int d = threadIdx.x; d < dim; d += blockDim.x) {
    float a = 0;
    for (int t = 0; t < many; ++t) a += scores[t] * v[base + (size_t)t * dim + d];
    out[base + (size_t)row * dim + d] = a / sum;
  }
}
