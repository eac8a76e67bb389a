// task: total_sum expect: ok
// Plain loads and stores under a lock, with fences where it is taken and where it is given back.
// @scratch lock int[1]
// @launch clear<<<1, 1>>>(lock, y)
// @launch kern<<<24, 128>>>(x, lock, y, n)
__global__ void clear(int* lock, float* y) { *lock = 0; *y = 0; }
__global__ void kern(const float* x, int* lock, float* y, int n) {
  float sum = 0;
  for (int i = blockIdx.x * 128 + threadIdx.x; i < n; i += 24 * 128) sum += x[i];
  for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(~0u, sum, d);
  if (threadIdx.x % 32 != 0) return;
  while (atomicCAS(lock, 0, 1) != 0) {}
  __threadfence();
  *y += sum;
  __threadfence();
  atomicExch(lock, 0);
}
