// task: exclusive_scan expect: ok
// State and value are one word of 64 bits, so that no fence is needed: relaxed stores and volatile loads.
// @scratch ready int[2 * ceil_div(n, 128)]
// @launch clear<<<ceil_div(ready.size, 128), 128>>>(ready, ready.size)
// @launch kern<<<ceil_div(n, 128), 128>>>(counts, offsets, ready, n)
#include <cuda/atomic>
__global__ void clear(int* ready, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i < n) ready[i] = 0;
}
__global__ void kern(const int* counts, int* offsets, int* ready, int n) {
  __shared__ int scan[128];
  __shared__ int before;
  const int b = blockIdx.x, t = threadIdx.x, i = b * 128 + t;
  unsigned long long* words = (unsigned long long*)ready;
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
    cuda::atomic_ref<unsigned long long, cuda::thread_scope_device> mine(words[b]);
    mine.store(1ull << 32 | (unsigned)scan[127], cuda::memory_order_relaxed);
    for (int from = b - 1; from >= 0; --from) {
      unsigned long long seen;
      do seen = *(volatile unsigned long long*)&words[from]; while (seen == 0);
      before += (int)(unsigned)seen;
      if (seen >> 32 == 2) break;
    }
    mine.store(2ull << 32 | (unsigned)(before + scan[127]), cuda::memory_order_relaxed);
  }
  __syncthreads();
  if (i < n) offsets[i] = before + scan[t] - counts[i];
}
