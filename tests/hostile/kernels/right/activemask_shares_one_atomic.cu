// task: total_sum expect: ok
// The lanes that are together reserve slots with one atomic operation of their first lane.
// @launch clear<<<1, 1>>>(y)
// @launch kern<<<ceil_div(n, 128), 128>>>(x, y, n)
__global__ void clear(float* y) { *y = 0; }
__global__ void kern(const float* x, float* y, int n) {
  __shared__ float list[128];
  __shared__ int used;
  if (threadIdx.x == 0) used = 0;
  __syncthreads();
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i < n && x[i] != 0) {
    const unsigned together = __activemask(), below = together & ((1u << threadIdx.x % 32) - 1);
    const int leader = __ffs(together) - 1;
    int first = 0;
    if (threadIdx.x % 32 == leader) first = atomicAdd(&used, __popc(together));
    first = __shfl_sync(together, first, leader);
    list[first + __popc(below)] = x[i];
  }
  __syncthreads();
  if (threadIdx.x != 0) return;
  float sum = 0;
  for (int k = 0; k < used; ++k) sum += list[k];
  atomicAdd(y, sum);
}
