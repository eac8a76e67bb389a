// A reduction by cooperative groups, the block's own and tiles.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;
__global__ void reduce_cooperative(const float* x, float* out, int n) {
  cg::thread_block block = cg::this_thread_block();
  cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block);
  extern __shared__ double s[];
  double sum = 0;
  for (int i = cg::this_grid().thread_rank(); i < n; i += cg::this_grid().size()) sum += x[i];
  sum = cg::reduce(warp, sum, cg::plus<double>());
  if (warp.thread_rank() == 0) s[warp.meta_group_rank()] = sum;
  cg::sync(block);
  if (block.thread_rank() == 0) {
    double total = 0;
    for (int w = 0; w < warp.meta_group_size(); ++w) total += s[w];
    atomicAdd(out, (float)total);
  }
}
