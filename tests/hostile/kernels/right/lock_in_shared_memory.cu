// task: row_sum expect: ok
// Warps take turns at a sum in shared memory by a lock with fences of the block.
// @launch kern<<<rows, 128>>>(x, y, cols)
__global__ void kern(const float* x, float* y, int cols) {
  __shared__ int lock; __shared__ float total;
  if (threadIdx.x == 0) lock = 0, total = 0;
  __syncthreads();
  float v = 0;
  for (int c = threadIdx.x; c < cols; c += 128) v += x[blockIdx.x * cols + c];
  for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(~0u, v, d);
  if (threadIdx.x % 32 == 0) {
    while (atomicCAS(&lock, 0, 1)) {}
    __threadfence_block();
    total += v;
    __threadfence_block();
    atomicExch(&lock, 0);
  }
  __syncthreads();
  if (threadIdx.x == 7) y[blockIdx.x] = total;
}
