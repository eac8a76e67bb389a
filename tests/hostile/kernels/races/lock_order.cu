// task: total_sum expect: timeout on-gpu: timeout|ok
// Half of the blocks take two locks in one order, half in the other.
// @scratch locks int[2]
// @launch clear<<<1, 1>>>(locks, y)
// @launch kern<<<8, 32>>>(x, locks, y, n)
__global__ void clear(int* locks, float* y) { locks[0] = locks[1] = 0; *y = 0; }
__global__ void kern(const float* x, int* locks, float* y, int n) {
  float sum = 0;
  for (int i = blockIdx.x * 32 + threadIdx.x; i < n; i += 256) sum += x[i];
  for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(~0u, sum, d);
  if (threadIdx.x != 0) return;
  const int first = blockIdx.x % 2;
  while (atomicCAS(&locks[first], 0, 1) != 0) {}
  while (atomicCAS(&locks[1 - first], 0, 1) != 0) {}
  __threadfence();
  *y += sum;
  __threadfence();
  atomicExch(&locks[0], 0);
  atomicExch(&locks[1], 0);
}
