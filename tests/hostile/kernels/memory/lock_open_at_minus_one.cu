// task: total_sum expect: runtime_fault|wrong_result|nondeterministic|timeout on-gpu: runtime_fault|wrong_result|nondeterministic|timeout|ok
// A lock that is open while its word is -1, as nobody has set it.
// @scratch lock int[1]
// @launch begin<<<1, 1>>>(y)
// @launch kern<<<ceil_div(n, 1024), 1>>>(x, y, lock, n)
__global__ void begin(float* y) { *y = 0; }
__global__ void kern(const float* x, float* y, int* lock, int n) {
  float sum = 0;
  for (int i = blockIdx.x * 1024; i < n && i < blockIdx.x * 1024 + 1024; i++) sum += x[i];
  while (atomicCAS(lock, -1, 1) != -1) {}
  __threadfence();
  *(volatile float*)y = *(volatile float*)y + sum;
  __threadfence();
  atomicExch(lock, -1);
}
