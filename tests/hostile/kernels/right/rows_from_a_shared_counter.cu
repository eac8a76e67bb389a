// task: row_sum expect: ok min-speedup: 1
// The warps of a few blocks draw rows: a warp from a counter in shared memory, for rows that its block drew from one in
// global memory, four at a time.
// @scratch next int[1]
// @launch clear<<<1, 1>>>(next)
// @launch kern<<<16, 128>>>(x, y, next, rows, cols)
__global__ void clear(int* next) { *next = 0; }
__global__ void kern(const float* x, float* y, int* next, int rows, int cols) {
  __shared__ int first, taken;
  for (;;) {
    if (threadIdx.x == 0) first = 4 * atomicAdd(next, 1), taken = 0;
    __syncthreads();
    const int begin = first;
    if (begin >= rows) return;
    for (;;) {
      int mine = 0;
      if (threadIdx.x % 32 == 0) mine = atomicAdd(&taken, 1);
      mine = __shfl_sync(~0u, mine, 0);
      const int row = begin + mine;
      if (mine >= 4 || row >= rows) break;
      float sum = 0;
      for (int c = threadIdx.x % 32; c < cols; c += 32) sum += x[row * cols + c];
      for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(~0u, sum, d);
      if (threadIdx.x % 32 == 0) y[row] = sum;
    }
    __syncthreads();
  }
}
