// task: row_sum expect: rejected|runtime_fault|compile_error|ok
// A store into gridDim, after which fewer blocks might be run or counted.
// @launch kern<<<rows, 128>>>(x, y, cols)
__global__ void kern(const float* x, float* y, int cols) {
  __shared__ float part[4];
  float sum = 0;
  for (int c = threadIdx.x; c < cols; c += blockDim.x) sum += x[blockIdx.x * cols + c];
  for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffff, sum, d);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x == 0) y[blockIdx.x] = part[0] + part[1] + part[2] + part[3];
  const_cast<uint3&>(gridDim).x = 1;
}
