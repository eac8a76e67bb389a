// task: row_sum expect: ok max-speedup: 6.0
// A column of shared memory with 32-way conflicts in each access.
// @launch kern<<<rows, 32>>>(x, y, cols)
__global__ void kern(const float* x, float* y, int cols) {
  __shared__ float s[32 * 32];
  for (int k = 0; k < 32; ++k) s[k * 32 + threadIdx.x] = 0;
  __syncwarp();
  for (int c = threadIdx.x; c < cols; c += 32) s[threadIdx.x * 32 + (c / 32) % 32] += x[blockIdx.x * cols + c];
  float sum = 0;
  for (int k = 0; k < 32; ++k) sum += s[threadIdx.x * 32 + k];
  for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(~0u, sum, d);
  if (threadIdx.x == 0) y[blockIdx.x] = sum;
}
