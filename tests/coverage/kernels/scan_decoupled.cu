// A single-pass scan with look-back by status words of 64 bits.
__device__ unsigned ticket;
__global__ void scan_decoupled(const unsigned* in, unsigned* out, unsigned long long* status, int n) {
  __shared__ unsigned tile, before, sums[8];
  if (threadIdx.x == 0) tile = atomicAdd(&ticket, 1);
  __syncthreads();
  const int i = tile * 256 + threadIdx.x, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  unsigned v = i < n ? in[i] : 0;
  for (int d = 1; d < 32; d *= 2) {
    const unsigned u = __shfl_up_sync(~0u, v, d);
    if (lane >= d) v += u;
  }
  if (lane == 31) sums[warp] = v;
  __syncthreads();
  for (int w = 0; w < warp; ++w) v += sums[w];
  if (threadIdx.x == 255) {
    atomicExch(&status[tile], (tile == 0 ? 2ull : 1ull) << 32 | v);
    unsigned prefix = 0;
    for (int t = (int)tile - 1; t >= 0;) {
      const unsigned long long s = atomicAdd(&status[t], 0ull);
      if (s >> 32 == 0) continue;
      prefix += (unsigned)s;
      if (s >> 32 == 2) break;
      --t;
    }
    if (tile > 0) atomicExch(&status[tile], 2ull << 32 | (prefix + v));
    before = prefix;
  }
  __syncthreads();
  if (i < n) out[i] = v + before;
}
