// task: axpy_inplace
// @launch axpy<<<ceil_div(n, 256), 256>>>(x, y, alpha, n)
__global__ void axpy(const float* x, float* y, float alpha, int n) {
  __shared__ float part[256];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int count = blockIdx.x == gridDim.x - 1 ? n % 256 : 256;
  if (threadIdx.x < count) part[threadIdx.x] = alpha * x[i];
  __syncthreads();
  if (threadIdx.x < count) y[i] += part[threadIdx.x];
}
