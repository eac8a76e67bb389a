// task: total_sum expect: runtime_fault|wrong_result|nondeterministic|timeout on-gpu: runtime_fault|wrong_result|nondeterministic|timeout|ok
// A lock whose release comes before the store that it guards.
// @scratch lock int[1]
// @launch clear<<<1, 1>>>(lock, y)
// @launch kern<<<8, 32>>>(x, lock, y, n)
__global__ void clear(int* lock, float* y) { *lock = 0; *y = 0; }
__global__ void kern(const float* x, int* lock, float* y, int n) {
  float sum = 0;
  for (int i = blockIdx.x * 32 + threadIdx.x; i < n; i += 256) sum += x[i];
  for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(~0u, sum, d);
  if (threadIdx.x != 0) return;
  while (atomicCAS(lock, 0, 1) != 0) {}
  const float old = *(volatile float*)y;
  atomicExch(lock, 0);
  *(volatile float*)y = old + sum;
}
