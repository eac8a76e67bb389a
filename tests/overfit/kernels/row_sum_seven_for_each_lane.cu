// task: row_sum
// @launch sum<<<rows, 32>>>(x, y, cols)
__global__ void sum(const float* x, float* y, int cols) {
  float acc = 0.0f;
  for (int k = 0; k < 7; k++) {
    int j = threadIdx.x + 32 * k;
    if (j < cols) acc += x[blockIdx.x * cols + j];
  }
  for (int d = 16; d > 0; d /= 2) acc += __shfl_down_sync(0xffffffff, acc, d);
  if (threadIdx.x == 0) y[blockIdx.x] = acc;
}
