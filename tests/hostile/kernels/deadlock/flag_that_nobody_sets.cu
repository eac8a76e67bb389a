// task: row_sum expect: timeout
// Half of the warps wait for a flag in shared memory that no warp ever sets to this value.
// @launch kern<<<rows, 64>>>(x, y, cols)
__global__ void kern(const float* x, float* y, int cols) {
  __shared__ volatile int flag;
  if (threadIdx.x == 0) flag = 0;
  __syncthreads();
  float sum = 0;
  for (int c = threadIdx.x % 32; c < cols; c += 32) sum += x[blockIdx.x * cols + c];
  for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(~0u, sum, d);
  if (threadIdx.x == 0) flag = 1;
  if (threadIdx.x >= 32) {
    while (flag != 2) {}
    __threadfence_block();
  }
  if (threadIdx.x == 32) y[blockIdx.x] = sum;
}
