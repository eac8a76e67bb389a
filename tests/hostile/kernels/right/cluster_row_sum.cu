// task: row_sum expect: ok|compile_error
// Clusters of four blocks for a row, which leave their sums in the first one's shared memory.
// @launch kern<<<rows * 4, 256>>>(x, y, cols)
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void __cluster_dims__(4, 1, 1) kern(const float* x, float* y, int cols) {
  __shared__ float warps[8], parts[4];
  cg::cluster_group cluster = cg::this_cluster();
  const int rank = cluster.block_rank(), r = blockIdx.x / 4;
  float sum = 0;
  for (int c = rank * 256 + threadIdx.x; c < cols; c += 1024) sum += x[(long)r * cols + c];
  for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(~0u, sum, d);
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = sum;
  cluster.sync();
  if (threadIdx.x == 0) {
    for (int w = 1; w < 8; ++w) sum += warps[w];
    cluster.map_shared_rank(parts, 0)[rank] = sum;
  }
  cluster.sync();
  if (rank == 0 && threadIdx.x == 0) y[r] = (parts[0] + parts[1]) + (parts[2] + parts[3]);
}
