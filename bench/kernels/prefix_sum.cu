// One pass over the data: a block keeps its tile of 8192 elements in registers, publishes the
// tile's sum with a flag in one 64-bit word, and waits for the sums of all tiles before its own.
// It adds them up in a fixed order, so the result does not depend on that of the blocks. Tickets
// order the tiles: who waits, waits for blocks that run already.
// @scratch published unsigned long long[ceil_div(n, 8192)]
// @scratch ticket int[1]
// @launch reset<<<ceil_div(published.size, 256), 256>>>(published, ticket, published.size)
// @launch prefix_sum<<<published.size, 512>>>(x, y, published, ticket, n)
constexpr int kThreads = 512, kVectors = 4, kTile = 4 * kThreads * kVectors, kWarps = kThreads / 32;

__global__ void reset(unsigned long long* published, int* ticket, int tiles) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < tiles) published[i] = 0;
  if (i == 0) ticket[0] = 0;
}

__device__ float warp_scan(float value) {
  for (int step = 1; step < 32; step *= 2) {
    float before = __shfl_up_sync(~0u, value, step);
    if (threadIdx.x % 32 >= step) value += before;
  }
  return value;
}

__device__ float warp_sum(float value) {
  for (int step = 16; step > 0; step /= 2) value += __shfl_xor_sync(~0u, value, step);
  return value;
}

__device__ float published_sum(volatile unsigned long long* word) {
  unsigned long long seen;
  do seen = *word;
  while (seen >> 32 == 0);
  return __uint_as_float(static_cast<unsigned>(seen));
}

__global__ void __launch_bounds__(kThreads)
    prefix_sum(const float* __restrict__ x, float* __restrict__ y, unsigned long long* published,
               int* ticket, int n) {
  __shared__ float warp_totals[kWarps], before_warps[kWarps];
  __shared__ int tile;
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  if (threadIdx.x == 0) tile = atomicAdd(ticket, 1);
  __syncthreads();

  // A warp has 32 * 4 * kVectors consecutive elements, a row of 32 float4 after the other.
  int first = tile * kTile + warp * (kTile / kWarps) + 4 * lane;
  float4 v[kVectors];
#pragma unroll
  for (int k = 0; k < kVectors; k++) {
    int i = first + 128 * k;
    if (i + 4 <= n) {
      v[k] = *reinterpret_cast<const float4*>(x + i);
    } else {
      v[k] = make_float4(i < n ? x[i] : 0.0f, i + 1 < n ? x[i + 1] : 0.0f,
                         i + 2 < n ? x[i + 2] : 0.0f, 0.0f);
    }
  }
  float total = 0.0f;
#pragma unroll
  for (int k = 0; k < kVectors; k++) {
    v[k].y += v[k].x;
    v[k].z += v[k].y;
    v[k].w += v[k].z;
    float upto = warp_scan(v[k].w);
    float before = total + upto - v[k].w;
    total += __shfl_sync(~0u, upto, 31);
    v[k] = make_float4(v[k].x + before, v[k].y + before, v[k].z + before, v[k].w + before);
  }
  if (lane == 0) warp_totals[warp] = total;
  __syncthreads();

  float before_warp = 0.0f;
  for (int w = 0; w < warp; w++) before_warp += warp_totals[w];
  if (threadIdx.x == kThreads - 1) {
    unsigned bits = __float_as_uint(before_warp + total);
    atomicExch(&published[tile], 1ull << 32 | bits);
  }
  float before_tile = 0.0f;
  for (int t = threadIdx.x; t < tile; t += kThreads) before_tile += published_sum(&published[t]);
  before_tile = warp_sum(before_tile);
  if (lane == 0) before_warps[warp] = before_tile;
  __syncthreads();
  float before = before_warp;
#pragma unroll
  for (int w = 0; w < kWarps; w++) before += before_warps[w];

#pragma unroll
  for (int k = 0; k < kVectors; k++) {
    int i = first + 128 * k;
    float4 out = make_float4(v[k].x + before, v[k].y + before, v[k].z + before, v[k].w + before);
    if (i + 4 <= n) {
      *reinterpret_cast<float4*>(y + i) = out;
    } else {
      if (i < n) y[i] = out.x;
      if (i + 1 < n) y[i + 1] = out.y;
      if (i + 2 < n) y[i + 2] = out.z;
    }
  }
}
