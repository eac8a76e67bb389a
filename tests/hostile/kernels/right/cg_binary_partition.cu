// task: total_sum expect: ok
// binary_partition by sign, each half reduces by itself.
// @launch clear<<<1, 1>>>(y)
// @launch kern<<<8, 32>>>(x, y, n)
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;
__global__ void clear(float* y) { *y = 0; }
__global__ void kern(const float* x, float* y, int n) {
  const auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  float sum = 0;
  for (int i = blockIdx.x * 32 + threadIdx.x; i < n; i += 256) sum += x[i];
  const auto half = cg::binary_partition(warp, sum > 0);
  const float total = cg::reduce(half, sum, cg::plus<float>());
  if (half.thread_rank() == 0) atomicAdd(y, total);
}
