// Every thread counts 128 keys in bytes of its own in shared memory (no atomics, and a bank for
// each lane); the block adds up its threads' bytes and adds the sums to the counts.
// @launch zero<<<1, bins>>>(counts)
// @launch histogram<<<ceil_div(n, 32768), 256>>>(keys, counts, n)
constexpr int kBins = 48, kThreads = 256, kBatch = 8, kTile = 128 * kThreads;

__global__ void zero(int* counts) { counts[threadIdx.x] = 0; }

__global__ void __launch_bounds__(kThreads)
    histogram(const int* __restrict__ keys, int* __restrict__ counts, int n) {
  __shared__ unsigned words[kBins][kThreads / 4];
  for (int i = threadIdx.x; i < kBins * kThreads / 4; i += kThreads) (&words[0][0])[i] = 0;
  __syncthreads();

  // Lane l of warp w owns byte w % 4 of the words l and l + 32 (of the warps 4 to 7).
  int word = threadIdx.x / 128 * 32 + threadIdx.x % 32;
  auto own = reinterpret_cast<unsigned char*>(words) + 4 * word + threadIdx.x / 32 % 4;
  int first = blockIdx.x * kTile;
  if (first + kTile <= n) {
    auto keys4 = reinterpret_cast<const int4*>(keys + first) + threadIdx.x;
    for (int first4 = 0; first4 < kTile / 4; first4 += kBatch * kThreads) {
      int4 key[kBatch];
#pragma unroll
      for (int k = 0; k < kBatch; k++) key[k] = keys4[first4 + k * kThreads];
#pragma unroll
      for (int k = 0; k < kBatch; k++) {
        own[key[k].x * kThreads]++;
        own[key[k].y * kThreads]++;
        own[key[k].z * kThreads]++;
        own[key[k].w * kThreads]++;
      }
    }
  } else {
    for (int i = first + threadIdx.x; i < n; i += kThreads) own[keys[i] * kThreads]++;
  }
  __syncthreads();

  for (int bin = threadIdx.x / 32; bin < kBins; bin += kThreads / 32) {
    int lane = threadIdx.x % 32;
    int sum = __dp4a(words[bin][lane], 0x01010101u, 0u);
    sum += __dp4a(words[bin][lane + 32], 0x01010101u, 0u);
    sum = __reduce_add_sync(~0u, sum);
    if (lane == 0) atomicAdd(&counts[bin], sum);
  }
}
