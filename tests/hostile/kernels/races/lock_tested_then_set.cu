// task: total_sum expect: runtime_fault on-gpu: nondeterministic|wrong_result|ok
// A lock that two blocks may find free before either has taken it.
// @scratch lock int[1]
// @launch clear<<<1, 1>>>(lock, y)
// @launch kern<<<8, 32>>>(x, lock, y, n)
__global__ void clear(int* lock, float* y) { *lock = 0; *y = 0; }
__global__ void kern(const float* x, int* lock, float* y, int n) {
  float sum = 0;
  for (int i = blockIdx.x * 32 + threadIdx.x; i < n; i += 256) sum += x[i];
  for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(~0u, sum, d);
  if (threadIdx.x != 0) return;
  volatile int* taken = lock;
  while (*taken != 0) {}
  *taken = 1;
  __threadfence();
  *y += sum;
  __threadfence();
  *taken = 0;
}
