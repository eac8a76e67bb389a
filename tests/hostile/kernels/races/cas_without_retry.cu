// task: total_sum expect: nondeterministic|wrong_result on-gpu: nondeterministic|wrong_result|ok
// A compare-and-swap that nobody repeats where another block was faster.
// @launch clear<<<1, 1>>>(y)
// @launch kern<<<16, 32>>>(x, y, n)
__global__ void clear(float* y) { *y = 0; }
__global__ void kern(const float* x, float* y, int n) {
  float sum = 0;
  for (int i = blockIdx.x * 32 + threadIdx.x; i < n; i += 512) sum += x[i];
  for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(~0u, sum, d);
  if (threadIdx.x != 0) return;
  const int before = __float_as_int(*(volatile float*)y);
  atomicCAS((int*)y, before, __float_as_int(__int_as_float(before) + sum));
}
