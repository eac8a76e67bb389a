// task: row_sum expect: ok|rejected
// A tile of 64 threads: two warps that meet in shared memory.
// @launch kern<<<ceil_div(rows, 2), 128>>>(x, y, rows, cols)
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;
__global__ void kern(const float* x, float* y, int rows, int cols) {
  __shared__ cg::block_tile_memory<128> memory;
  const auto block = cg::this_thread_block(memory);
  const auto tile = cg::tiled_partition<64>(block);
  const int r = blockIdx.x * 2 + tile.meta_group_rank();
  float sum = 0;
  if (r < rows)
    for (int c = tile.thread_rank(); c < cols; c += 64) sum += x[r * cols + c];
  sum = cg::reduce(tile, sum, cg::plus<float>());
  if (r < rows && tile.thread_rank() == 0) y[r] = sum;
}
