// task: row_sum expect: ok
// Warps hand partial sums over by flags in shared memory: volatile with fences of the block.
// @launch kern<<<rows, 128>>>(x, y, cols)
__global__ void kern(const float* x, float* y, int cols) {
  __shared__ float part[4];
  __shared__ volatile int full[4];
  if (threadIdx.x < 4) full[threadIdx.x] = 0;
  __syncthreads();
  float sum = 0;
  for (int c = threadIdx.x; c < cols; c += 128) sum += x[blockIdx.x * cols + c];
  for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(~0u, sum, d);
  const int warp = threadIdx.x / 32;
  if (threadIdx.x % 32 == 0 && warp > 0) {
    part[warp] = sum;
    __threadfence_block();
    full[warp] = 1;
  }
  if (threadIdx.x != 0) return;
  for (int w = 1; w < 4; ++w) {
    while (full[w] == 0) {}
    __threadfence_block();
    sum += part[w];
  }
  y[blockIdx.x] = sum;
}
