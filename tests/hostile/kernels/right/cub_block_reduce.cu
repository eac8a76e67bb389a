// task: row_sum expect: ok
// cub::BlockReduce with its storage in shared memory.
// @launch kern<<<rows, 128>>>(x, y, cols)
#include <cub/block/block_reduce.cuh>
__global__ void kern(const float* x, float* y, int cols) {
  using Reduce = cub::BlockReduce<float, 128>;
  __shared__ typename Reduce::TempStorage storage;
  float sum = 0;
  for (int c = threadIdx.x; c < cols; c += 128) sum += x[blockIdx.x * cols + c];
  sum = Reduce(storage).Sum(sum);
  if (threadIdx.x == 0) y[blockIdx.x] = sum;
}
