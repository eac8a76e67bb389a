// task: total_sum expect: ok
// CUB's block reduction from the header of its own.
// @launch zero<<<1, 1>>>(y)
// @launch kern<<<8, 128>>>(x, y, n)
#include <cub/block/block_reduce.cuh>
__global__ void zero(float* y) { *y = 0; }
__global__ void kern(const float* x, float* y, int n) {
  using Reduce = cub::BlockReduce<float, 128>;
  __shared__ typename Reduce::TempStorage storage;
  float sum = 0;
  for (int i = blockIdx.x * 128 + threadIdx.x; i < n; i += 8 * 128) sum += x[i];
  sum = Reduce(storage).Sum(sum);
  if (threadIdx.x == 0) atomicAdd(y, sum);
}
