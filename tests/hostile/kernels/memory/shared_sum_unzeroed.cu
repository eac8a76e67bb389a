// task: row_sum expect: runtime_fault|wrong_result|nondeterministic on-gpu: runtime_fault|wrong_result|nondeterministic|ok
// Adds to a shared word that nobody has set to zero.
// @launch kern<<<rows, 64>>>(x, y, rows, cols)
__global__ void kern(const float* x, float* y, int rows, int cols) {
  __shared__ float sum;
  for (int c = threadIdx.x; c < cols; c += 64) atomicAdd(&sum, x[blockIdx.x * cols + c]);
  __syncthreads();
  if (threadIdx.x == 0) y[blockIdx.x] = sum;
}
