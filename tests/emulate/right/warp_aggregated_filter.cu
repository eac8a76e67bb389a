// emulate: --launch 'filter<<<4, 64>>>(x, count, 256)' --launch 'check<<<1, 1>>>(count, sum)'
// emulate: --buffer x=i32[256]:arange --buffer count=i32[1]:zeros --buffer sum=i32[2]
// holds: sum = 128 16256
// Active threads elect a leader that reserves room for all of them; the order of what is kept is open.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__device__ int kept[256];
__device__ int add_one(int* counter) {
  auto g = cg::coalesced_threads();
  int base = 0;
  if (g.thread_rank() == 0) base = atomicAdd(counter, g.size());
  return g.shfl(base, 0) + g.thread_rank();
}
__global__ void filter(const int* x, int* count, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && x[i] % 2 == 0) kept[add_one(count)] = x[i];
}
__global__ void check(const int* count, int* sum) {
  sum[0] = *count;
  sum[1] = 0;
  for (int i = 0; i < *count; ++i) sum[1] += kept[i];
}
