// Groups of all kinds: tiles, coalesced, labelled, binary, scans, asynchronous copies.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
namespace cg = cooperative_groups;
__global__ void tiles(const int* x, int* y, int n) {
  const auto block = cg::this_thread_block();
  const auto four = cg::tiled_partition<4>(block);
  const auto sixteen = cg::tiled_partition<16>(block);
  const int i = block.group_index().x * block.size() + block.thread_rank();
  int v = i < n ? x[i] : 0;
  v = cg::reduce(four, v, cg::greater<int>()) + cg::inclusive_scan(sixteen, v) + cg::exclusive_scan(four, v, cg::bit_or<int>());
  v += four.match_any(v & 3) + sixteen.shfl_up(v, 2) + four.meta_group_rank();
  if (i < n) y[i] = v;
}
__device__ int atomic_aggregated(int* counter) {
  const auto g = cg::coalesced_threads();
  int before = 0;
  if (g.thread_rank() == 0) before = atomicAdd(counter, (int)g.size());
  return g.thread_rank() + g.shfl(before, 0);
}
__global__ void filter(const float* x, float* y, int* count, int n) {
  for (int i = cg::this_grid().thread_rank(); i < n; i += cg::this_grid().num_threads())
    if (x[i] > 0) y[atomic_aggregated(count)] = x[i];
}
__global__ void labelled(const int* keys, float* sums, const float* x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const auto same = cg::labeled_partition(cg::coalesced_threads(), keys[i]);
  const float s = cg::reduce(same, x[i], cg::plus<float>());
  if (same.thread_rank() == 0) atomicAdd(&sums[keys[i]], s);
}
__global__ void staged(const float4* x, float4* y, int n) {
  extern __shared__ float4 stage[];
  const auto block = cg::this_thread_block();
  cg::memcpy_async(block, stage, x + (size_t)blockIdx.x * block.size(), sizeof(float4) * block.size());
  cg::wait(block);
  y[(size_t)blockIdx.x * block.size() + threadIdx.x] = stage[block.size() - 1 - threadIdx.x];
}
