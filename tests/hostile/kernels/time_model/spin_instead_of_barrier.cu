// task: row_sum expect: ok|timeout|runtime_fault min-speedup: 1 max-speedup: 4
// A busy wait in shared memory in the place of a barrier costs about as much as one.
// @launch kern<<<rows, 64>>>(x, y, cols)
__global__ void kern(const float* x, float* y, int cols) {
  __shared__ float part[2];
  __shared__ int arrived;
  if (threadIdx.x == 0) arrived = 0;
  __syncthreads();
  float sum = 0;
  for (int c = threadIdx.x; c < cols; c += 64) sum += x[blockIdx.x * cols + c];
  for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(~0u, sum, d);
  if (threadIdx.x % 32 == 0) {
    part[threadIdx.x / 32] = sum;
    __threadfence_block();
    atomicAdd(&arrived, 1);
  }
  if (threadIdx.x == 0) {
    while (atomicAdd(&arrived, 0) < 2) {}
    __threadfence_block();
    y[blockIdx.x] = part[0] + part[1];
  }
}
