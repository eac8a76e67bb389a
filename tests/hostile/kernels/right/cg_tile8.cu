// task: row_sum expect: ok
// Cooperative groups: four rows a warp by tiles of 8, reduce.
// @launch kern<<<ceil_div(rows, 16), 128>>>(x, y, rows, cols)
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;
__global__ void kern(const float* __restrict__ x, float* __restrict__ y, int rows, int cols) {
  auto block = cg::this_thread_block();
  auto tile = cg::tiled_partition<8>(block);
  const int row = blockIdx.x * 16 + tile.meta_group_rank();
  float sum = 0.f;
  if (row < rows)
    for (int c = tile.thread_rank(); c < cols; c += tile.num_threads()) sum += __ldg(&x[row * cols + c]);
  sum = cg::reduce(tile, sum, cg::plus<float>());
  if (row < rows && tile.thread_rank() == 0) y[row] = sum;
}
