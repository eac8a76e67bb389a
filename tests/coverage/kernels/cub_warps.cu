// Warp primitives of cub.
#include <cub/warp/warp_merge_sort.cuh>
#include <cub/warp/warp_reduce.cuh>
#include <cub/warp/warp_scan.cuh>
__global__ void warp_scans(const float* x, float* out, float* totals) {
  using Scan = cub::WarpScan<float>;
  __shared__ typename Scan::TempStorage s[4];
  const int warp = threadIdx.x / 32, i = blockIdx.x * 128 + threadIdx.x;
  float v = x[i], total;
  Scan(s[warp]).ExclusiveSum(v, v, total);
  out[i] = v;
  if (threadIdx.x % 32 == 0) totals[blockIdx.x * 4 + warp] = total;
}
__global__ void warp_argmax(const float* x, int* out) {
  using Pair = cub::KeyValuePair<int, float>;
  using Reduce = cub::WarpReduce<Pair, 16>;
  __shared__ typename Reduce::TempStorage s[8];
  const int part = threadIdx.x / 16;
  const Pair best = Reduce(s[part]).Reduce(Pair(threadIdx.x % 16, x[blockIdx.x * 128 + threadIdx.x]), cub::ArgMax());
  if (threadIdx.x % 16 == 0) out[blockIdx.x * 8 + part] = best.key;
}
struct Less { __device__ bool operator()(const int& a, const int& b) const { return a < b; } };
__global__ void warp_sorts(int* x) {
  using Sort = cub::WarpMergeSort<int, 4, 32>;
  __shared__ typename Sort::TempStorage s;
  int items[4];
  for (int k = 0; k < 4; ++k) items[k] = x[blockIdx.x * 128 + threadIdx.x * 4 + k];
  Sort(s).Sort(items, Less());
  for (int k = 0; k < 4; ++k) x[blockIdx.x * 128 + threadIdx.x * 4 + k] = items[k];
}
