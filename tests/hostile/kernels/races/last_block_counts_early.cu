// task: total_sum expect: nondeterministic|runtime_fault on-gpu: nondeterministic|wrong_result|ok
// A block counts itself before its partial sum is there, so that the last one may add what is not.
// @scratch partial float[16]
// @scratch arrived int[1]
// @launch clear<<<1, 1>>>(arrived)
// @launch kern<<<16, 32>>>(x, partial, arrived, y, n)
__global__ void clear(int* arrived) { *arrived = 0; }
__global__ void kern(const float* x, float* partial, int* arrived, float* y, int n) {
  float sum = 0;
  for (int i = blockIdx.x * 32 + threadIdx.x; i < n; i += 512) sum += x[i];
  for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(~0u, sum, d);
  if (threadIdx.x != 0) return;
  const bool last = atomicAdd(arrived, 1) == 15;
  partial[blockIdx.x] = sum;
  __threadfence();
  if (!last) return;
  float total = 0;
  for (int b = 0; b < 16; ++b) total += partial[b];
  *y = total;
}
