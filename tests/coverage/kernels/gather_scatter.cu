// gather, scatter, index_add and masked select by a running count.
__global__ void gather_last(const float* x, const long long* index, float* y, int rows, int cols, int out_cols) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < rows * out_cols) y[i] = x[(size_t)(i / out_cols) * cols + index[i]];
}
__global__ void scatter_add(const float* x, const int* index, float* y, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(y + index[i], x[i]);
}
__global__ void masked_select(const float* x, const bool* mask, float* y, unsigned* count, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const bool take = i < n && mask[i];
  const unsigned votes = __ballot_sync(0xffffffffu, take);
  const int lane = threadIdx.x & 31, leader = __ffs(votes) - 1;
  unsigned base = 0;
  if (votes && lane == leader) base = atomicAdd(count, __popc(votes));
  base = __shfl_sync(0xffffffffu, base, leader < 0 ? 0 : leader);
  if (take) y[base + __popc(votes & ((1u << lane) - 1))] = x[i];
}
