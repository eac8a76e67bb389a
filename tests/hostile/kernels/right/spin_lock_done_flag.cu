// task: total_sum expect: ok
// The older idiom: a lock inside of a loop with a flag, so that no lane spins apart.
// @scratch lock int[1]
// @launch clear<<<1, 1>>>(lock, y)
// @launch kern<<<4, 32>>>(x, lock, y, n)
__global__ void clear(int* lock, float* y) { *lock = 0; *y = 0; }
__global__ void kern(const float* x, int* lock, float* y, int n) {
  float sum = 0;
  for (int i = blockIdx.x * 32 + threadIdx.x; i < n; i += 128) sum += x[i];
  for (bool done = false; !done;) {
    if (atomicExch(lock, 1) == 0) {
      __threadfence();
      *(volatile float*)y = *(volatile float*)y + sum;
      __threadfence();
      atomicExch(lock, 0);
      done = true;
    }
  }
}
