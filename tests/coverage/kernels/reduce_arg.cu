// argmax, argmin, any, all, count and min-max of rows.
struct Best { float v; int i; };
__device__ __forceinline__ Best larger(Best a, Best b) { return b.v > a.v || (b.v == a.v && b.i < a.i) ? b : a; }
__global__ void argmax_rows(const float* x, int* y, int cols) {
  __shared__ Best s[32];
  Best best{-INFINITY, 0x7fffffff};
  for (int c = threadIdx.x; c < cols; c += blockDim.x) best = larger(best, Best{x[(size_t)blockIdx.x * cols + c], c});
  for (int o = 16; o; o >>= 1) best = larger(best, Best{__shfl_down_sync(~0u, best.v, o), __shfl_down_sync(~0u, best.i, o)});
  if (threadIdx.x % 32 == 0) s[threadIdx.x / 32] = best;
  __syncthreads();
  if (threadIdx.x < 32) {
    best = threadIdx.x < blockDim.x / 32 ? s[threadIdx.x] : Best{-INFINITY, 0x7fffffff};
    for (int o = 16; o; o >>= 1) best = larger(best, Best{__shfl_down_sync(~0u, best.v, o), __shfl_down_sync(~0u, best.i, o)});
    if (threadIdx.x == 0) y[blockIdx.x] = best.i;
  }
}
__global__ void count_and_any(const float* x, int* count, int* any, int n, float limit) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const bool above = i < n && x[i] > limit;
  const int many = __syncthreads_count(above);
  if (__syncthreads_or(above) && threadIdx.x == 0) atomicOr(any, 1), atomicAdd(count, many);
  if (__syncthreads_and(above) && threadIdx.x == 0) atomicOr(any, 2);
}
