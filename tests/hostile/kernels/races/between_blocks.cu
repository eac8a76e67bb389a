// task: total_sum expect: runtime_fault on-gpu: runtime_fault|wrong_result|nondeterministic
// Blocks add to one word with plain loads and stores.
// @launch clear<<<1, 1>>>(y)
// @launch kern<<<64, 32>>>(x, y, n)
__global__ void clear(float* y) { *y = 0; }
__global__ void kern(const float* x, float* y, int n) {
  float sum = 0;
  for (int i = blockIdx.x * 32 + threadIdx.x; i < n; i += 2048) sum += x[i];
  for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(~0u, sum, d);
  if (threadIdx.x == 0) *y += sum;
}
