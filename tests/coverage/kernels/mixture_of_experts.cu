// Routing: softmax, top-2, positions by counts, permutation and combination.
__global__ void route(const float* logits, int* experts, float* weights, int* counts, int tokens, int many) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= tokens) return;
  float first = -INFINITY, second = -INFINITY;
  int i = 0, j = 0;
  for (int e = 0; e < many; ++e) {
    const float v = logits[t * many + e];
    if (v > first) second = first, j = i, first = v, i = e;
    else if (v > second) second = v, j = e;
  }
  const float w = 1 / (1 + expf(second - first));
  experts[2 * t] = i; experts[2 * t + 1] = j;
  weights[2 * t] = w; weights[2 * t + 1] = 1 - w;
  atomicAdd(counts + i, 1);
  atomicAdd(counts + j, 1);
}
__global__ void permute(const float4* x, const int* experts, int* offsets, float4* out, int* where, int dim4) {
  __shared__ int to;
  if (threadIdx.x == 0) where[blockIdx.x] = to = atomicAdd(offsets + experts[blockIdx.x], 1);
  __syncthreads();
  for (int d = threadIdx.x; d < dim4; d += blockDim.x) out[(size_t)to * dim4 + d] = x[(size_t)(blockIdx.x / 2) * dim4 + d];
}
__global__ void combine(const float* x, const int* where, const float* weights, float* y, int dim) {
  for (int d = threadIdx.x; d < dim; d += blockDim.x)
    y[(size_t)blockIdx.x * dim + d] = weights[2 * blockIdx.x] * x[(size_t)where[2 * blockIdx.x] * dim + d] + weights[2 * blockIdx.x + 1] * x[(size_t)where[2 * blockIdx.x + 1] * dim + d];
}
