// A block a row reads it once: the sums of its tiles of 1024 stay in shared memory, and only the
// tile that contains the target is read again and scanned.
// @launch sample<<<rows, 256>>>(weights, pick, token, cols)
constexpr int kThreads = 256, kWarps = kThreads / 32, kTile = 1024, kMostTiles = 32, kEach = 4;

__global__ void __launch_bounds__(kThreads)
    sample(const int* __restrict__ weights, const int* __restrict__ pick, int* __restrict__ token,
           int cols) {
  __shared__ int tile_sums[kMostTiles], warp_sums[kWarps];
  weights += static_cast<size_t>(blockIdx.x) * cols;
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32, tiles = (cols + kTile - 1) / kTile;
  if (threadIdx.x < kMostTiles) tile_sums[threadIdx.x] = 0;
  __syncthreads();
  // A warp takes every eighth tile, so that the tiles' sums need no other warp.
  for (int tile = warp; tile < tiles; tile += kWarps) {
    int sum = 0, end = min(cols, (tile + 1) * kTile);
#pragma unroll 8
    for (int j = tile * kTile + lane; j < end; j += 32) sum += weights[j];
    sum = __reduce_add_sync(~0u, sum);
    if (lane == 0) tile_sums[tile] = sum;
  }
  __syncthreads();

  int upto = tile_sums[lane];
  for (int step = 1; step < 32; step *= 2) {
    int before = __shfl_up_sync(~0u, upto, step);
    if (lane >= step) upto += before;
  }
  long long total = __shfl_sync(~0u, upto, 31);
  int target = static_cast<int>(pick[blockIdx.x] * total >> 30);
  unsigned beyond = __ballot_sync(~0u, upto > target);
  if (beyond == 0) {
    if (threadIdx.x == 0) token[blockIdx.x] = cols - 1;
    return;
  }
  int tile = __ffs(beyond) - 1, before_tile = __shfl_sync(~0u, upto, tile) - tile_sums[tile];

  int own[kEach], sum = 0, first = tile * kTile + kEach * threadIdx.x;
#pragma unroll
  for (int k = 0; k < kEach; k++) {
    own[k] = first + k < cols ? weights[first + k] : 0;
    sum += own[k];
  }
  int scanned = sum;
  for (int step = 1; step < 32; step *= 2) {
    int before = __shfl_up_sync(~0u, scanned, step);
    if (lane >= step) scanned += before;
  }
  if (lane == 31) warp_sums[warp] = scanned;
  __syncthreads();
  int before = before_tile + scanned - sum;
  for (int w = 0; w < warp; w++) before += warp_sums[w];
  // Just one thread's elements reach beyond the target first.
  if (before <= target && before + sum > target) {
    int k = 0;
    while (before + own[k] <= target) before += own[k++];
    token[blockIdx.x] = first + k;
  }
}
