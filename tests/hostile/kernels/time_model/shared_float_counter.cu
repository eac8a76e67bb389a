// task: row_sum expect: ok max-speedup: 2
// All threads of a block add floats to one word of shared memory: a loop of compare-and-swap, one thread after another.
// @launch kern<<<rows, 128>>>(x, y, cols)
__global__ void kern(const float* x, float* y, int cols) {
  __shared__ float sum;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  float own = 0;
  for (int c = threadIdx.x; c < cols; c += 128) own += x[blockIdx.x * cols + c];
  atomicAdd(&sum, own);
  __syncthreads();
  if (threadIdx.x == 0) y[blockIdx.x] = sum;
}
