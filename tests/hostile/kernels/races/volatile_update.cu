// task: total_sum expect: nondeterministic|runtime_fault|wrong_result on-gpu: nondeterministic|wrong_result|ok
// volatile makes no update atomic.
// @launch clear<<<1, 1>>>(y)
// @launch kern<<<16, 32>>>(x, y, n)
__global__ void clear(float* y) { *y = 0; }
__global__ void kern(const float* x, float* y, int n) {
  float sum = 0;
  for (int i = blockIdx.x * 32 + threadIdx.x; i < n; i += 512) sum += x[i];
  for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(~0u, sum, d);
  volatile float* total = y;
  if (threadIdx.x == 0) *total = *total + sum;
}
