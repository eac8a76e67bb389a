// task: row_max expect: timeout on-gpu: ok|timeout
// A barrier of all blocks in volatile memory; the modelled GPU holds eight blocks of this size, and there are forty.
// @scratch state int[2]
// @launch clear<<<1, 2>>>(state)
// @launch kern<<<40, 768>>>(src, dst, state, m, n)
__global__ void clear(int* state) { state[threadIdx.x] = 0; }
__global__ void kern(const float* x, float* y, int* state, int rows, int cols) {
  if (threadIdx.x == 0) {
    __threadfence();
    if (atomicAdd(&state[0], 1) == gridDim.x - 1) atomicExch(&state[1], 1);
    while (*(volatile int*)&state[1] == 0) {}
    __threadfence();
  }
  __syncthreads();
  for (int r = blockIdx.x * 24 + threadIdx.x / 32; r < rows; r += 24 * gridDim.x) {
    float most = -INFINITY;
    for (int c = threadIdx.x % 32; c < cols; c += 32) most = fmaxf(most, x[r * cols + c]);
    for (int d = 16; d > 0; d /= 2) most = fmaxf(most, __shfl_xor_sync(~0u, most, d));
    if (threadIdx.x % 32 == 0) y[r] = most;
  }
}
