// task: exclusive_scan expect: runtime_fault|nondeterministic|wrong_result on-gpu: nondeterministic|wrong_result|ok|timeout|runtime_fault
// volatile makes accesses of one word consistent, and says nothing of two words.
// @scratch sums int[ceil_div(n, 128)]
// @scratch ready int[ceil_div(n, 128)]
// @launch clear<<<ceil_div(ready.size, 128), 128>>>(ready, ready.size)
// @launch kern<<<ceil_div(n, 128), 128>>>(counts, offsets, sums, ready, n)
__global__ void clear(int* ready, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i < n) ready[i] = 0;
}
__global__ void kern(const int* counts, int* offsets, volatile int* sums, int* ready, int n) {
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
      while (((volatile int*)ready)[b - 1] == 0) {}
      before = sums[b - 1];
    }
    sums[b] = before + scan[127];
    ((volatile int*)ready)[b] = 1;
  }
  __syncthreads();
  if (i < n) offsets[i] = before + scan[t] - counts[i];
}
