// task: row_sum expect: ok
// The warps of a block add to a sum one after the other, each when a volatile turn says so.
// @launch kern<<<rows, 128>>>(x, y, cols)
__global__ void kern(const float* x, float* y, int cols) {
  __shared__ volatile int turn;
  __shared__ volatile float total;
  if (threadIdx.x == 0) turn = 0, total = 0;
  __syncthreads();
  float sum = 0;
  for (int c = threadIdx.x; c < cols; c += 128) sum += x[blockIdx.x * cols + c];
  for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(~0u, sum, d);
  if (threadIdx.x % 32 == 0) {
    while (turn != threadIdx.x / 32) {}
    __threadfence_block();
    total = total + sum;
    __threadfence_block();
    turn = threadIdx.x / 32 + 1;
  }
  __syncthreads();
  if (threadIdx.x == 0) y[blockIdx.x] = total;
}
