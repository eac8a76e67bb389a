// task: total_sum expect: ok
// A counting semaphore: blocks take one of two slots by compare-and-swap, each slot has a sum of its own under it.
// @scratch free int[2]
// @scratch sums float[2]
// @launch clear<<<1, 1>>>(free, sums)
// @launch kern<<<16, 32>>>(x, free, sums, n)
// @launch tell<<<1, 1>>>(sums, y)
__global__ void clear(int* free, float* sums) { free[0] = free[1] = 1; sums[0] = sums[1] = 0; }
__global__ void kern(const float* x, int* free, float* sums, int n) {
  float sum = 0;
  for (int i = blockIdx.x * 32 + threadIdx.x; i < n; i += 512) sum += x[i];
  for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(~0u, sum, d);
  if (threadIdx.x != 0) return;
  int slot = 0;
  while (atomicCAS(&free[slot], 1, 0) != 1) slot ^= 1;
  __threadfence();
  sums[slot] += sum;
  __threadfence();
  *(volatile int*)&free[slot] = 1;
}
__global__ void tell(const float* sums, float* y) { *y = sums[0] + sums[1]; }
