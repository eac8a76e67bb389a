// task: row_sum expect: ok max-speedup: 2
// The same with a word of 64 bits.
// @launch kern<<<rows, 128>>>(x, y, cols)
__global__ void kern(const float* x, float* y, int cols) {
  __shared__ double sum;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  double own = 0;
  for (int c = threadIdx.x; c < cols; c += 128) own += x[blockIdx.x * cols + c];
  atomicAdd(&sum, own);
  __syncthreads();
  if (threadIdx.x == 0) y[blockIdx.x] = (float)sum;
}
