// emulate: --launch 'scan<<<8, 64>>>(x, y, status, ticket)' --buffer x=u32[512]:ones --buffer y=u32[512]
// emulate: --buffer status=u64[8]:zeros --buffer ticket=u32[1]:zeros
// holds: y = 1 2 3 4 5 6 7 8
// A scan in one pass: blocks take tickets and look back at their predecessors' sums; the flag and
// the sum share one word, so that no fence is needed.
__global__ void scan(const unsigned* x, unsigned* y, unsigned long long* status, unsigned* ticket) {
  __shared__ unsigned s[64], before, tile;
  if (threadIdx.x == 0) tile = atomicAdd(ticket, 1);
  __syncthreads();
  unsigned t = threadIdx.x, i = tile * 64 + t;
  s[t] = x[i];
  __syncthreads();
  for (int d = 1; d < 64; d *= 2) {
    unsigned v = t >= d ? s[t - d] : 0;
    __syncthreads();
    s[t] += v;
    __syncthreads();
  }
  if (t == 0) {
    const unsigned long long kSum = 1ull << 32, kPrefix = 2ull << 32;
    atomicExch(&status[tile], (tile == 0 ? kPrefix : kSum) | s[63]);
    unsigned sum = 0;
    for (int b = int(tile) - 1; b >= 0;) {
      unsigned long long found = atomicAdd(&status[b], 0);
      if (found == 0) continue;
      sum += unsigned(found);
      if (found & kPrefix) break;
      --b;
    }
    before = sum;
    if (tile > 0) atomicExch(&status[tile], kPrefix | (sum + s[63]));
  }
  __syncthreads();
  y[i] = before + s[t];
}
