// task: ell_spmv
// @launch spmv<<<rows, 32>>>(vals, at, x, y, width)
__global__ void spmv(const float* vals, const int* at, const float* x, float* y, int width) {
  int i = blockIdx.x * width + threadIdx.x;
  float sum = threadIdx.x < width ? vals[i] * x[at[i]] : 0.0f;
  for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(~0u, sum, step);
  if (threadIdx.x == 0) y[blockIdx.x] = sum;
}
