// task: vector_add expect: ok
// Cooperative groups: ranks of grid and block, grid-stride by them.
// @launch kern<<<3, dim3(16, 8)>>>(a, b, out, n)
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void kern(const float* a, const float* b, float* out, int n) {
  const cg::grid_group grid = cg::this_grid();
  const cg::thread_block block = cg::this_thread_block();
  for (unsigned long long i = grid.thread_rank(); i < n; i += grid.size()) out[i] = a[i] + b[i];
  block.sync();
}
