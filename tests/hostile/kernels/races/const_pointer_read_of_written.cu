// task: axpy_inplace expect: wrong_result|runtime_fault|nondeterministic|ok on-gpu: wrong_result|runtime_fault|nondeterministic|ok
// __ldg of memory that the same kernel writes.
// @launch kern<<<1, 256>>>(x, y, alpha, n)
__global__ void kern(const float* x, float* y, float alpha, int n) {
  for (int i = threadIdx.x; i < n; i += 256) y[i] = alpha * x[i] + y[i];
  __syncthreads();
  for (int i = threadIdx.x; i < n; i += 256) y[i] = __ldg(y + i);
}
