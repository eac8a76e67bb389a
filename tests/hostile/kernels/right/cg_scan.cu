// task: prefix_sum expect: ok
// inclusive_scan and exclusive_scan of tiles of 16.
// @launch kern<<<1, 16>>>(x, y, n)
#include <cooperative_groups.h>
#include <cooperative_groups/scan.h>
namespace cg = cooperative_groups;
__global__ void kern(const float* x, float* y, int n) {
  const auto tile = cg::tiled_partition<16>(cg::this_thread_block());
  float carry = 0;
  for (int base = 0; base < n; base += 16) {
    const int i = base + tile.thread_rank();
    const float v = i < n ? x[i] : 0;
    const float before = cg::exclusive_scan(tile, v, cg::plus<float>());
    if (i < n) y[i] = carry + before + v;
    carry += cg::inclusive_scan(tile, v, cg::plus<float>()) * (tile.thread_rank() == 15);
    carry = tile.shfl(carry, 15);
  }
}
