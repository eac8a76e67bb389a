// task: row_sum expect: ok
// CUB's header of everything, for a sum of a block.
// @launch kern<<<rows, 128>>>(x, y, cols)
#include <cub/cub.cuh>
__global__ void kern(const float* x, float* y, int cols) {
  using Reduce = cub::BlockReduce<float, 128>;
  __shared__ typename Reduce::TempStorage storage;
  float sum = 0;
  for (int c = threadIdx.x; c < cols; c += 128) sum += x[static_cast<long>(blockIdx.x) * cols + c];
  sum = Reduce(storage).Sum(sum);
  if (threadIdx.x == 0) y[blockIdx.x] = sum;
}
