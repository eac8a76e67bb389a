// Embedding lookup, bag with offsets, and its gradient by atomics.
__global__ void embedding(const float4* __restrict__ table, const long long* __restrict__ ids, float4* __restrict__ out, int dim4, long long padding) {
  const long long id = ids[blockIdx.x];
  for (int d = threadIdx.x; d < dim4; d += blockDim.x) out[(size_t)blockIdx.x * dim4 + d] = id == padding ? make_float4(0, 0, 0, 0) : __ldg(table + id * dim4 + d);
}
__global__ void embedding_bag(const float* table, const int* ids, const int* offsets, float* out, int dim, int mode) {
  const int begin = offsets[blockIdx.x], end = offsets[blockIdx.x + 1];
  for (int d = threadIdx.x; d < dim; d += blockDim.x) {
    float v = mode == 2 ? -INFINITY : 0;
    for (int i = begin; i < end; ++i) {
      const float e = table[(size_t)ids[i] * dim + d];
      v = mode == 2 ? fmaxf(v, e) : v + e;
    }
    out[(size_t)blockIdx.x * dim + d] = mode == 1 && end > begin ? v / (end - begin) : v;
  }
}
__global__ void embedding_backward(const float* dy, const long long* ids, float* table, int dim) {
  for (int d = threadIdx.x; d < dim; d += blockDim.x) atomicAdd(&table[ids[blockIdx.x] * dim + d], dy[(size_t)blockIdx.x * dim + d]);
}
