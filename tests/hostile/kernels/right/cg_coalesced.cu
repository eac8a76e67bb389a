// task: histogram expect: ok
// coalesced_threads, labeled_partition: one atomic for each group of equal keys.
// @launch clear<<<1, bins>>>(counts)
// @launch kern<<<ceil_div(n, 128), 128>>>(keys, counts, n)
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void clear(int* counts) { counts[threadIdx.x] = 0; }
__global__ void kern(const int* keys, int* counts, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i >= n) return;
  const int key = keys[i];
  const cg::coalesced_group active = cg::coalesced_threads();
  const auto same = cg::labeled_partition(active, key);
  if (same.thread_rank() == 0) atomicAdd(&counts[key], (int)same.size());
}
