// Block primitives of cub: reduce, scan, sort, histogram, exchange, discontinuity.
#include <cub/block/block_discontinuity.cuh>
#include <cub/block/block_exchange.cuh>
#include <cub/block/block_histogram.cuh>
#include <cub/block/block_load.cuh>
#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/block/block_store.cuh>
template <typename T, int THREADS, int ITEMS> __global__ void block_sums(const T* x, T* out, int n) {
  using Load = cub::BlockLoad<T, THREADS, ITEMS, cub::BLOCK_LOAD_VECTORIZE>;
  using Reduce = cub::BlockReduce<T, THREADS, cub::BLOCK_REDUCE_RAKING>;
  __shared__ union { typename Load::TempStorage load; typename Reduce::TempStorage reduce; } s;
  T items[ITEMS];
  Load(s.load).Load(x + blockIdx.x * THREADS * ITEMS, items, n - blockIdx.x * THREADS * ITEMS, T());
  __syncthreads();
  const T sum = Reduce(s.reduce).Sum(items);
  if (threadIdx.x == 0) out[blockIdx.x] = sum;
}
template __global__ void block_sums<float, 128, 4>(const float*, float*, int);
template __global__ void block_sums<long long, 64, 2>(const long long*, long long*, int);
__global__ void block_sorts(unsigned* keys, int* values) {
  using Sort = cub::BlockRadixSort<unsigned, 128, 4, int>;
  __shared__ typename Sort::TempStorage s;
  unsigned k[4];
  int v[4];
  cub::LoadDirectStriped<128>(threadIdx.x, keys + blockIdx.x * 512, k);
  cub::LoadDirectStriped<128>(threadIdx.x, values + blockIdx.x * 512, v);
  Sort(s).SortDescendingBlockedToStriped(k, v, 0, 16);
  cub::StoreDirectStriped<128>(threadIdx.x, keys + blockIdx.x * 512, k);
  cub::StoreDirectStriped<128>(threadIdx.x, values + blockIdx.x * 512, v);
}
__global__ void block_histogram(const unsigned char* x, unsigned* out) {
  using Histogram = cub::BlockHistogram<unsigned char, 64, 4, 256, cub::BLOCK_HISTO_ATOMIC>;
  __shared__ typename Histogram::TempStorage s;
  __shared__ unsigned bins[256];
  unsigned char items[4];
  cub::LoadDirectBlocked(threadIdx.x, x + blockIdx.x * 256, items);
  Histogram(s).Histogram(items, bins);
  __syncthreads();
  for (int b = threadIdx.x; b < 256; b += 64) out[blockIdx.x * 256 + b] = bins[b];
}
struct Differ { __device__ bool operator()(int a, int b) const { return a != b; } };
__global__ void block_flags(const int* x, int* out) {
  using Flags = cub::BlockDiscontinuity<int, 64>;
  using Scan = cub::BlockScan<int, 64, cub::BLOCK_SCAN_WARP_SCANS>;
  __shared__ union { typename Flags::TempStorage flags; typename Scan::TempStorage scan; } s;
  int v[2] = {x[blockIdx.x * 128 + threadIdx.x * 2], x[blockIdx.x * 128 + threadIdx.x * 2 + 1]}, heads[2];
  Flags(s.flags).FlagHeads(heads, v, Differ());
  __syncthreads();
  Scan(s.scan).ExclusiveSum(heads, heads);
  out[blockIdx.x * 128 + threadIdx.x * 2] = heads[0];
  out[blockIdx.x * 128 + threadIdx.x * 2 + 1] = heads[1];
}
