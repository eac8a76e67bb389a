// task: exclusive_scan expect: ok
// A warp looks back over 32 blocks at a time: flags, sums and prefixes are three arrays, with fences.
// @scratch flag int[ceil_div(n, 64)]
// @scratch agg int[ceil_div(n, 64)]
// @scratch pre int[ceil_div(n, 64)]
// @launch clear<<<ceil_div(flag.size, 64), 64>>>(flag, flag.size)
// @launch kern<<<ceil_div(n, 64), 64>>>(counts, offsets, flag, agg, pre, n)
__global__ void clear(int* flag, int n) { int i = blockIdx.x * 64 + threadIdx.x; if (i < n) flag[i] = 0; }
__global__ void kern(const int* counts, int* offsets, volatile int* flag, int* agg, int* pre, int n) {
  __shared__ int s[64], before;
  const int b = blockIdx.x, t = threadIdx.x, i = b * 64 + t, lane = t % 32;
  int v = i < n ? counts[i] : 0;
  s[t] = v; __syncthreads();
  for (int d = 1; d < 64; d *= 2) { int o = t >= d ? s[t - d] : 0; __syncthreads(); s[t] += o; __syncthreads(); }
  if (t < 32) {
    int total = s[63];
    if (lane == 0) {
      if (b == 0) { pre[0] = total; __threadfence(); flag[0] = 2; }
      else { agg[b] = total; __threadfence(); flag[b] = 1; }
    }
    int sum = 0;
    for (int base = b - 1; base >= 0;) {
      int at = base - lane, f = 2, x = 0;
      if (at >= 0) { do f = flag[at]; while (f == 0); }
      __threadfence();
      if (at >= 0) x = f == 2 ? __ldcg(pre + at) : __ldcg(agg + at);
      unsigned done = __ballot_sync(~0u, f == 2);
      int stop = done ? __ffs(done) - 1 : 31;
      if (lane > stop) x = 0;
      for (int d = 16; d; d /= 2) x += __shfl_xor_sync(~0u, x, d);
      sum += x;
      if (done) break;
      base -= 32;
    }
    if (lane == 0) { before = sum; if (b) { pre[b] = sum + total; __threadfence(); flag[b] = 2; } }
  }
  __syncthreads();
  if (i < n) offsets[i] = before + s[t] - v;
}
