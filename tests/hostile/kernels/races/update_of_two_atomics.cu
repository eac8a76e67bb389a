// task: total_sum expect: nondeterministic|wrong_result on-gpu: nondeterministic|wrong_result|ok
// A load and a store that are atomic, and an update that is not.
// @launch clear<<<1, 1>>>(y)
// @launch kern<<<16, 32>>>(x, y, n)
__global__ void clear(float* y) { *y = 0; }
__global__ void kern(const float* x, float* y, int n) {
  float sum = 0;
  for (int i = blockIdx.x * 32 + threadIdx.x; i < n; i += 512) sum += x[i];
  for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(~0u, sum, d);
  if (threadIdx.x == 0) atomicExch(y, atomicAdd(y, 0.0f) + sum);
}
