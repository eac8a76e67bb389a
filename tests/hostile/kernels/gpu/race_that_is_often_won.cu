// task: total_sum expect: runtime_fault|nondeterministic|wrong_result on-gpu: nondeterministic|wrong_result|flagged|ok
// Blocks add without atomics: right when they do not meet.
// @launch zero<<<1, 1>>>(y)
// @launch kern<<<2, 32>>>(x, y, n)
__global__ void zero(float* y) { *y = 0; }
__global__ void kern(const float* x, float* y, int n) {
  float sum = 0;
  for (int i = blockIdx.x * 32 + threadIdx.x; i < n; i += 64) sum += x[i];
  for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffffu, sum, d);
  if (blockIdx.x == 1) { const long long s = clock64(); while (clock64() - s < 3000) continue; }
  if (threadIdx.x == 0) *(volatile float*)y = *(volatile float*)y + sum;
}
