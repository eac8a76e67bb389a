// task: exclusive_scan expect: runtime_fault|nondeterministic|wrong_result|timeout on-gpu: nondeterministic|wrong_result|ok|timeout|runtime_fault
// The value is its own flag, but the loads that wait for it may be answered by the L1 cache for ever.
// @scratch ready int[ceil_div(n, 128)]
// @launch clear<<<ceil_div(ready.size, 128), 128>>>(ready, ready.size)
// @launch kern<<<ceil_div(n, 128), 128>>>(counts, offsets, ready, n)
__global__ void clear(int* ready, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i < n) ready[i] = 0;
}
__global__ void kern(const int* counts, int* offsets, int* ready, int n) {
  __shared__ int scan[128];
  __shared__ int before;
  const int b = blockIdx.x, t = threadIdx.x, i = b * 128 + t;
  scan[t] = i < n ? counts[i] : 0;
  __syncthreads();
  for (int d = 1; d < 128; d *= 2) {
    const int other = t >= d ? scan[t - d] : 0;
    __syncthreads();
    scan[t] += other;
    __syncthreads();
  }
  if (t == 0) {
    before = 0;
    if (b > 0) {
      int seen;
      do {
        asm volatile("ld.global.ca.b32 %0, [%1];" : "=r"(seen) : "l"(ready + b - 1));
      } while (seen == 0);
      before = seen - 1;
    }
    atomicExch(&ready[b], before + scan[127] + 1);
  }
  __syncthreads();
  if (i < n) offsets[i] = before + scan[t] - counts[i];
}
