// Three launches of a scan of pairs, a sum and whether a segment starts: of each tile of 1024, of
// the tiles' pairs by one block, and of each tile's elements with what enters from the left. The
// time does not depend on the segments' lengths.
// @scratch sums int[ceil_div(n, 1024)]
// @scratch starts int[sums.size]
// @launch tile_pairs<<<sums.size, 256>>>(x, flags, sums, starts, n)
// @launch scan_pairs<<<1, 256>>>(sums, starts, sums.size)
// @launch scan_tiles<<<sums.size, 256>>>(x, flags, sums, y, n)
constexpr int kThreads = 256, kWarps = kThreads / 32, kEach = 4, kTile = kEach * kThreads;

struct Pair {
  int sum, starts;
};

__device__ Pair joined(Pair left, Pair right) {
  return {right.starts ? right.sum : left.sum + right.sum, left.starts | right.starts};
}

__device__ Pair from_lane_below(Pair pair, int step) {
  return {__shfl_up_sync(~0u, pair.sum, step), __shfl_up_sync(~0u, pair.starts, step)};
}

// What is before each thread in the block, beginning with `carried`, which becomes all of it.
__device__ Pair block_scan(Pair own, Pair& carried) {
  __shared__ Pair warps[kWarps];
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  for (int step = 1; step < 32; step *= 2) {
    Pair before = from_lane_below(own, step);
    if (lane >= step) own = joined(before, own);
  }
  __syncthreads();  // the pairs of the last call have been read
  if (lane == 31) warps[warp] = own;
  __syncthreads();
  Pair before = carried;
  for (int w = 0; w < warp; w++) before = joined(before, warps[w]);
  Pair below = from_lane_below(own, 1);
  if (lane > 0) before = joined(before, below);
  for (int w = 0; w < kWarps; w++) carried = joined(carried, warps[w]);
  return before;
}

__device__ Pair pair_at(const int* __restrict__ x, const int* __restrict__ flags, int i, int n) {
  return i < n ? Pair{x[i], flags[i] != 0} : Pair{0, 0};
}

__global__ void __launch_bounds__(kThreads)
    tile_pairs(const int* __restrict__ x, const int* __restrict__ flags, int* __restrict__ sums,
               int* __restrict__ starts, int n) {
  int first = blockIdx.x * kTile + kEach * threadIdx.x;
  Pair own = {0, 0}, all = {0, 0};
#pragma unroll
  for (int k = 0; k < kEach; k++) own = joined(own, pair_at(x, flags, first + k, n));
  block_scan(own, all);
  if (threadIdx.x == 0) {
    sums[blockIdx.x] = all.sum;
    starts[blockIdx.x] = all.starts;
  }
}

// sums becomes what enters each tile from the left.
__global__ void __launch_bounds__(kThreads) scan_pairs(int* sums, const int* starts, int tiles) {
  Pair carried = {0, 0};
  for (int first = 0; first < tiles; first += kTile) {
    int at = first + kEach * threadIdx.x;
    Pair own = {0, 0}, pairs[kEach];
#pragma unroll
    for (int k = 0; k < kEach; k++) {
      pairs[k] = at + k < tiles ? Pair{sums[at + k], starts[at + k]} : Pair{0, 0};
      own = joined(own, pairs[k]);
    }
    Pair before = block_scan(own, carried);
#pragma unroll
    for (int k = 0; k < kEach; k++) {
      if (at + k < tiles) sums[at + k] = before.sum;
      before = joined(before, pairs[k]);
    }
  }
}

__global__ void __launch_bounds__(kThreads)
    scan_tiles(const int* __restrict__ x, const int* __restrict__ flags,
               const int* __restrict__ sums, int* __restrict__ y, int n) {
  int first = blockIdx.x * kTile + kEach * threadIdx.x;
  Pair own = {0, 0}, carried = {sums[blockIdx.x], 0}, pairs[kEach];
#pragma unroll
  for (int k = 0; k < kEach; k++) {
    pairs[k] = pair_at(x, flags, first + k, n);
    own = joined(own, pairs[k]);
  }
  Pair before = block_scan(own, carried);
#pragma unroll
  for (int k = 0; k < kEach; k++) {
    before = joined(before, pairs[k]);
    if (first + k < n) y[first + k] = before.sum;
  }
}
