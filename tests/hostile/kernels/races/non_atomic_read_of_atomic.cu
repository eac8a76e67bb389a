// task: total_sum expect: runtime_fault|wrong_result|nondeterministic on-gpu: runtime_fault|wrong_result|nondeterministic|flagged|ok
// Every block takes the sum for complete when its own atomic is done.
// @scratch sum float[1]
// @launch clear<<<1, 1>>>(sum)
// @launch kern<<<16, 32>>>(x, sum, y, n)
__global__ void clear(float* sum) { *sum = 0; }
__global__ void kern(const float* x, float* sum, float* y, int n) {
  float v = 0;
  for (int i = blockIdx.x * 32 + threadIdx.x; i < n; i += 512) v += x[i];
  atomicAdd(sum, v);
  __syncwarp();
  if (threadIdx.x == 0) *y = *sum;
}
