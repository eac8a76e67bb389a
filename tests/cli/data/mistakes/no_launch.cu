__global__ void row_sum(const float* x, float* y, int rows, int cols) {
  __shared__ float part[256];
  float sum = 0;
  for (int j = threadIdx.x; j < cols; j += blockDim.x) sum += x[blockIdx.x * cols + j];
  part[threadIdx.x] = sum;
  __syncthreads();
  for (int k = 128; k; k /= 2) {
    if (threadIdx.x < k) part[threadIdx.x] += part[threadIdx.x + k];
    __syncthreads();
  }
  if (threadIdx.x == 0) y[blockIdx.x] = part[0];
}
