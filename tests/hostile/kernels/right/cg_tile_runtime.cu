// task: row_sum expect: ok
// Cooperative groups: the tile's type spelled out, reduce by hand with shfl_down.
// @launch kern<<<rows, 32>>>(x, y, cols)
#include <cooperative_groups.h>
using namespace cooperative_groups;
__device__ float sum_of(thread_block_tile<32> tile, float v) {
  for (int i = tile.size() / 2; i > 0; i /= 2) v += tile.shfl_down(v, i);
  return v;
}
__global__ void kern(const float* x, float* y, int cols) {
  thread_block_tile<32> warp = tiled_partition<32>(this_thread_block());
  float v = 0;
  for (int c = warp.thread_rank(); c < cols; c += 32) v += x[(size_t)blockIdx.x * cols + c];
  v = sum_of(warp, v);
  if (warp.thread_rank() == 0) y[blockIdx.x] = v;
}
