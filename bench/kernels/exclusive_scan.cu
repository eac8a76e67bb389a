// One pass with decoupled look-back: a block publishes the sum of its tile of 4096, then a warp
// adds up the tiles before it, 32 at a time, back to the first that has published the sum of
// everything up to it. Tickets order the tiles: who waits, waits for blocks that run already.
// @scratch published unsigned long long[ceil_div(n, 4096)]
// @scratch ticket int[1]
// @launch reset<<<ceil_div(published.size, 256), 256>>>(published, ticket, published.size)
// @launch exclusive_scan<<<published.size, 256>>>(counts, offsets, published, ticket, n)
constexpr int kThreads = 256, kWarps = kThreads / 32, kVectors = 4, kTile = 4 * kThreads * kVectors;
constexpr unsigned long long kOwn = 1ull << 32, kUpTo = 2ull << 32;

__global__ void reset(unsigned long long* published, int* ticket, int tiles) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < tiles) published[i] = 0;
  if (i == 0) ticket[0] = 0;
}

__device__ int warp_scan(int value) {
  for (int step = 1; step < 32; step *= 2) {
    int before = __shfl_up_sync(~0u, value, step);
    if (threadIdx.x % 32 >= step) value += before;
  }
  return value;
}

// The sum of all tiles before `tile`, by a whole warp.
__device__ int sum_before(volatile unsigned long long* published, int tile) {
  int sum = 0;
  for (int last = tile - 1; last >= 0; last -= 32) {
    int t = last - static_cast<int>(threadIdx.x % 32);
    unsigned long long word = kUpTo;
    do
      if (t >= 0) word = published[t];
    while (__any_sync(~0u, word < kOwn));
    unsigned complete = __ballot_sync(~0u, word >= kUpTo);
    int nearest = complete == 0 ? 31 : __ffs(complete) - 1;  // its sum includes the tiles before it
    int part = static_cast<int>(threadIdx.x % 32) <= nearest ? static_cast<int>(word) : 0;
    sum += __reduce_add_sync(~0u, part);
    if (complete != 0) break;
  }
  return sum;
}

__global__ void __launch_bounds__(kThreads)
    exclusive_scan(const int* __restrict__ counts, int* __restrict__ offsets,
                   unsigned long long* published, int* ticket, int n) {
  __shared__ int totals[kWarps], tile, before_tile;
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  if (threadIdx.x == 0) tile = atomicAdd(ticket, 1);
  __syncthreads();

  int first = tile * kTile + warp * (kTile / kWarps) + 4 * lane;
  int4 v[kVectors];
#pragma unroll
  for (int k = 0; k < kVectors; k++) {
    int i = first + 128 * k;
    if (i + 4 <= n) {
      v[k] = *reinterpret_cast<const int4*>(counts + i);
    } else {
      v[k] = make_int4(i < n ? counts[i] : 0, i + 1 < n ? counts[i + 1] : 0,
                       i + 2 < n ? counts[i + 2] : 0, 0);
    }
  }
  int total = 0, before[kVectors];
#pragma unroll
  for (int k = 0; k < kVectors; k++) {
    int own = v[k].x + v[k].y + v[k].z + v[k].w;
    int upto = warp_scan(own);
    before[k] = total + upto - own;
    total += __shfl_sync(~0u, upto, 31);
  }
  if (lane == 0) totals[warp] = total;
  __syncthreads();

  int before_warp = 0, tile_total = 0;
#pragma unroll
  for (int w = 0; w < kWarps; w++) {
    if (w < warp) before_warp += totals[w];
    tile_total += totals[w];
  }
  if (warp == 0) {
    if (lane == 0 && tile > 0)
      atomicExch(&published[tile], kOwn | static_cast<unsigned>(tile_total));
    int sum = sum_before(published, tile);
    if (lane == 0) {
      atomicExch(&published[tile], kUpTo | static_cast<unsigned>(sum + tile_total));
      before_tile = sum;
    }
  }
  __syncthreads();

#pragma unroll
  for (int k = 0; k < kVectors; k++) {
    int i = first + 128 * k, at = before_tile + before_warp + before[k];
    int4 out = make_int4(at, at + v[k].x, at + v[k].x + v[k].y, at + v[k].x + v[k].y + v[k].z);
    if (i + 4 <= n) {
      *reinterpret_cast<int4*>(offsets + i) = out;
    } else {
      if (i < n) offsets[i] = out.x;
      if (i + 1 < n) offsets[i + 1] = out.y;
      if (i + 2 < n) offsets[i + 2] = out.z;
    }
  }
}
