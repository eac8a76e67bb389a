// task: total_sum expect: timeout|nondeterministic on-gpu: timeout|ok
// A barrier of the grid that the first block clears once it has passed, while others still look at it.
// @scratch partial float[8]
// @scratch arrived int[1]
// @launch clear<<<1, 1>>>(arrived)
// @launch kern<<<8, 32>>>(x, partial, arrived, y, n)
__global__ void clear(int* arrived) { *arrived = 0; }
__global__ void kern(const float* x, float* partial, int* arrived, float* y, int n) {
  float sum = 0;
  for (int i = blockIdx.x * 32 + threadIdx.x; i < n; i += 256) sum += x[i];
  for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(~0u, sum, d);
  if (threadIdx.x != 0) return;
  partial[blockIdx.x] = sum;
  __threadfence();
  atomicAdd(arrived, 1);
  while (*(volatile int*)arrived < 8) {}
  __threadfence();
  if (blockIdx.x != 0) return;
  atomicExch(arrived, 0);
  float total = 0;
  for (int b = 0; b < 8; ++b) total += partial[b];
  *y = total;
}
