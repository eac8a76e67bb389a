// task: total_sum expect: ok
// A lock that the lanes of a warp take one after the other: a lane that waits must not stop the one that holds it.
// @scratch lock int[1]
// @launch clear<<<1, 1>>>(lock, y)
// @launch kern<<<2, 64>>>(x, lock, y, n)
__global__ void clear(int* lock, float* y) { *lock = 0; *y = 0; }
__global__ void kern(const float* x, int* lock, float* y, int n) {
  float sum = 0;
  for (int i = blockIdx.x * 64 + threadIdx.x; i < n; i += 128) sum += x[i];
  while (atomicCAS(lock, 0, 1) != 0) {}
  __threadfence();
  *(volatile float*)y += sum;
  __threadfence();
  atomicExch(lock, 0);
}
