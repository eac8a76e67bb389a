// task: row_max expect: ok
// The shuffles and votes of a tile of 4.
// @launch kern<<<ceil_div(m, 16), 64>>>(src, dst, m, n)
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void kern(const float* src, float* dst, int m, int n) {
  const auto tile = cg::tiled_partition<4>(cg::this_thread_block());
  const int r = blockIdx.x * 16 + tile.meta_group_rank();
  float best = -INFINITY;
  if (r < m)
    for (int c = tile.thread_rank(); c < n; c += 4) best = fmaxf(best, src[r * n + c]);
  best = fmaxf(best, tile.shfl_xor(best, 2));
  best = fmaxf(best, tile.shfl_xor(best, 1));
  const bool agree = tile.all(best == tile.shfl(best, 0)) && tile.any(true) && tile.ballot(true) == 15u;
  if (r < m && tile.thread_rank() == 3 && agree) dst[r] = best;
}
