// Three launches: the sums of tiles of 2048, a scan of these sums by one block, and a scan of each
// tile from there. The counts are read twice, but no block waits for another.
// @scratch sums int[ceil_div(n, 2048)]
// @launch tile_sums<<<sums.size, 256>>>(counts, sums, n)
// @launch scan_sums<<<1, 1024>>>(sums, sums.size)
// @launch scan_tiles<<<sums.size, 256>>>(counts, sums, offsets, n)
constexpr int kEach = 8, kTile = 2048;

// The exclusive scan of the values of a block; `total` is their sum.
template <int kWarps>
__device__ int block_scan(int value, int& total) {
  __shared__ int warps[kWarps];
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32, upto = value;
  for (int step = 1; step < 32; step *= 2) {
    int before = __shfl_up_sync(~0u, upto, step);
    if (lane >= step) upto += before;
  }
  __syncthreads();  // the values of the last call have been read
  if (lane == 31) warps[warp] = upto;
  __syncthreads();
  int before = 0;
  total = 0;
  for (int w = 0; w < kWarps; w++) {
    if (w < warp) before += warps[w];
    total += warps[w];
  }
  return before + upto - value;
}

__global__ void tile_sums(const int* __restrict__ counts, int* __restrict__ sums, int n) {
  int sum = 0, total;
#pragma unroll
  for (int k = 0; k < kEach; k++) {
    int i = blockIdx.x * kTile + 256 * k + threadIdx.x;
    sum += i < n ? counts[i] : 0;
  }
  block_scan<8>(sum, total);
  if (threadIdx.x == 0) sums[blockIdx.x] = total;
}

__global__ void __launch_bounds__(1024) scan_sums(int* sums, int tiles) {
  int carried = 0;
  for (int first = 0; first < tiles; first += 1024) {
    int i = first + threadIdx.x, total;
    int before = block_scan<32>(i < tiles ? sums[i] : 0, total);
    if (i < tiles) sums[i] = carried + before;
    carried += total;
  }
}

__global__ void scan_tiles(const int* __restrict__ counts, const int* __restrict__ sums,
                           int* __restrict__ offsets, int n) {
  __shared__ int tile[kTile + kTile / 32];  // a gap after every 32, against bank conflicts
  int first = blockIdx.x * kTile;
#pragma unroll
  for (int k = 0; k < kEach; k++) {
    int j = 256 * k + threadIdx.x;
    tile[j + j / 32] = first + j < n ? counts[first + j] : 0;
  }
  __syncthreads();
  int v[kEach], sum = 0, total;
#pragma unroll
  for (int k = 0; k < kEach; k++) {
    int j = kEach * threadIdx.x + k;
    v[k] = sum;
    sum += tile[j + j / 32];
  }
  int before = sums[blockIdx.x] + block_scan<8>(sum, total);
#pragma unroll
  for (int k = 0; k < kEach; k++) {
    int j = kEach * threadIdx.x + k;
    tile[j + j / 32] = before + v[k];
  }
  __syncthreads();
#pragma unroll
  for (int k = 0; k < kEach; k++) {
    int j = 256 * k + threadIdx.x;
    if (first + j < n) offsets[first + j] = tile[j + j / 32];
  }
}
