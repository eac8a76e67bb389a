// task: row_sum expect: nondeterministic|runtime_fault|wrong_result on-gpu: nondeterministic|wrong_result|ok
// The warps of a block add to a volatile word of shared memory, each with a load and a store.
// @launch kern<<<rows, 128>>>(x, y, cols)
__global__ void kern(const float* x, float* y, int cols) {
  __shared__ volatile float total;
  if (threadIdx.x == 0) total = 0;
  __syncthreads();
  float sum = 0;
  for (int c = threadIdx.x; c < cols; c += 128) sum += x[blockIdx.x * cols + c];
  for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(~0u, sum, d);
  if (threadIdx.x % 32 == 0) total = total + sum;
  __syncthreads();
  if (threadIdx.x == 0) y[blockIdx.x] = total;
}
