// task: total_sum expect: nondeterministic|runtime_fault on-gpu: nondeterministic|wrong_result|ok
// The block that comes first clears the total; others may have added to it by then.
// @scratch arrived int[1]
// @launch clear<<<1, 1>>>(arrived)
// @launch kern<<<16, 32>>>(x, arrived, y, n)
__global__ void clear(int* arrived) { *arrived = 0; }
__global__ void kern(const float* x, int* arrived, float* y, int n) {
  float sum = 0;
  for (int i = blockIdx.x * 32 + threadIdx.x; i < n; i += 512) sum += x[i];
  for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(~0u, sum, d);
  if (threadIdx.x != 0) return;
  if (atomicAdd(arrived, 1) == 0) atomicExch(y, 0.0f);
  __threadfence();
  atomicAdd(y, sum);
}
