// @launch row_sum<<<rows, 64>>>(x, y, cols)
__global__ void row_sum(const float* x, float* y, int cols) {
  __shared__ float part[64];
  float sum = 0;
  for (int j = threadIdx.x; j < cols; j += 64) sum += x[blockIdx.x * cols + j];
  if (threadIdx.x >= 32) part[threadIdx.x] = sum;
  if (threadIdx.x < 32) sum += part[threadIdx.x + 32];
  for (int d = 16; d; d /= 2) sum += __shfl_down_sync(~0u, sum, d);
  if (threadIdx.x == 0) y[blockIdx.x] = sum;
}
