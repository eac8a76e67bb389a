// task: total_sum expect: ok
// A lock between blocks with __nanosleep while it waits.
// @scratch lock int[1]
// @launch clear<<<1, 1>>>(lock, y)
// @launch kern<<<4, 32>>>(x, lock, y, n)
__global__ void clear(int* lock, float* y) { *lock = 0; *y = 0; }
__global__ void kern(const float* x, int* lock, float* y, int n) {
  float sum = 0;
  for (int i = blockIdx.x * 32 + threadIdx.x; i < n; i += 128) sum += x[i];
  for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(~0u, sum, d);
  if (threadIdx.x != 0) return;
  for (unsigned wait = 8; atomicCAS(lock, 0, 1) != 0; wait = min(wait * 2, 256u)) __nanosleep(wait);
  __threadfence();
  *(volatile float*)y = *(volatile float*)y + sum;
  __threadfence();
  atomicExch(lock, 0);
}
