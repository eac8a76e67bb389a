// emulate: --launch 'groups<<<1, 64>>>(x, y)' --buffer x=i32[64]:arange --buffer y=i32[16]
// holds: y = 6 22 38 54 70 86 102 118
// Tiles of four threads add up what they hold.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void groups(const int* x, int* y) {
  auto tile = cg::tiled_partition<4>(cg::this_thread_block());
  int v = x[threadIdx.x];
  for (int d = tile.size() / 2; d > 0; d /= 2) v += tile.shfl_down(v, d);
  if (tile.thread_rank() == 0) y[threadIdx.x / 4] = v;
}
