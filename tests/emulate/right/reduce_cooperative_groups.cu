// emulate: --launch 'sum<<<4, 128>>>(x, total, 500)' --buffer x=i32[500]:arange --buffer total=i32[1]:zeros
// holds: total = 124750
// Cooperative groups: tiles of 32 threads reduce, their leaders add atomically.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;
__global__ void sum(const int* x, int* total, int n) {
  cg::thread_block block = cg::this_thread_block();
  cg::thread_block_tile<32> tile = cg::tiled_partition<32>(block);
  int i = blockIdx.x * blockDim.x + block.thread_rank();
  int v = cg::reduce(tile, i < n ? x[i] : 0, cg::plus<int>());
  if (tile.thread_rank() == 0) atomicAdd(total, v);
}
