// task: total_sum expect: ok|rejected
// A barrier of the whole grid where the launch promises one; else the first block does all.
// @scratch partial float[4]
// @launch kern<<<4, 64>>>(x, partial, y, n)
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__device__ float block_sum(const float* x, int begin, int step, int n) {
  __shared__ float s[64];
  float sum = 0;
  for (int i = begin + threadIdx.x; i < n; i += step) sum += x[i];
  s[threadIdx.x] = sum;
  __syncthreads();
  sum = 0;
  for (int t = 0; t < 64; ++t) sum += s[t];
  return sum;
}
__global__ void kern(const float* x, float* partial, float* y, int n) {
  const cg::grid_group grid = cg::this_grid();
  if (!grid.is_valid()) {
    if (blockIdx.x != 0) return;
    const float sum = block_sum(x, 0, 64, n);
    if (threadIdx.x == 0) *y = sum;
    return;
  }
  const float sum = block_sum(x, blockIdx.x * 64, 256, n);
  if (threadIdx.x == 0) partial[blockIdx.x] = sum;
  grid.sync();
  if (grid.thread_rank() == 0) *y = partial[0] + partial[1] + partial[2] + partial[3];
}
