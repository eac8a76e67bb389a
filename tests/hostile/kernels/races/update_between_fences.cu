// task: total_sum expect: runtime_fault|nondeterministic on-gpu: nondeterministic|wrong_result|ok
// Fences order the accesses of two blocks, but make no update of a load and a store.
// @launch clear<<<1, 1>>>(y)
// @launch kern<<<16, 32>>>(x, y, n)
__global__ void clear(float* y) { *y = 0; }
__global__ void kern(const float* x, float* y, int n) {
  float sum = 0;
  for (int i = blockIdx.x * 32 + threadIdx.x; i < n; i += 512) sum += x[i];
  for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(~0u, sum, d);
  if (threadIdx.x != 0) return;
  __threadfence();
  *y += sum;
  __threadfence();
}
