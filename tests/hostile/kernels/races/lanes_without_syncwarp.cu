// task: total_sum expect: runtime_fault|nondeterministic|wrong_result on-gpu: nondeterministic|wrong_result|ok|timeout|runtime_fault
// Lanes store, and the first lane fences for them before they have met.
// @scratch part float[ceil_div(n, 32) * 32]
// @scratch count int[1]
// @launch clear<<<1, 1>>>(count)
// @launch kern<<<ceil_div(n, 32), 32>>>(x, part, count, y, n)
__global__ void clear(int* count) { *count = 0; }
__global__ void kern(const float* x, float* part, int* count, float* y, int n) {
  const int i = blockIdx.x * 32 + threadIdx.x;
  part[i] = i < n ? x[i] : 0;
  if (threadIdx.x != 0) return;
  __threadfence();
  if (atomicAdd(count, 1) != gridDim.x - 1) return;
  __threadfence();
  float sum = 0;
  for (int k = 0; k < gridDim.x * 32; ++k) sum += part[k];
  *y = sum;
}
