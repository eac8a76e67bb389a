// task: total_sum expect: runtime_fault|wrong_result|nondeterministic|ok on-gpu: runtime_fault|wrong_result|nondeterministic|ok
// Atomics of block scope on a word that all blocks share.
// @launch clear<<<1, 1>>>(y)
// @launch kern<<<16, 64>>>(x, y, n)
__global__ void clear(float* y) { *y = 0; }
__global__ void kern(const float* x, float* y, int n) {
  float sum = 0;
  for (int i = blockIdx.x * 64 + threadIdx.x; i < n; i += 1024) sum += x[i];
  atomicAdd_block(y, sum);
}
