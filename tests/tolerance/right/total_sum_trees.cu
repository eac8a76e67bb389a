// task: total_sum
// @scratch partial float[64]
// @launch blocks<<<64, 256>>>(x, partial, n)
// @launch finish<<<1, 32>>>(partial, y)
__global__ void blocks(const float* x, float* partial, int n) {
  __shared__ float sums[256];
  float acc = 0.0f;
  for (int j = blockIdx.x * 256 + threadIdx.x; j < n; j += 64 * 256) acc += x[j];
  sums[threadIdx.x] = acc;
  __syncthreads();
  for (int s = 128; s > 0; s /= 2) {
    if (threadIdx.x < s) sums[threadIdx.x] += sums[threadIdx.x + s];
    __syncthreads();
  }
  if (threadIdx.x == 0) partial[blockIdx.x] = sums[0];
}
__global__ void finish(const float* partial, float* y) {
  float acc = partial[threadIdx.x] + partial[threadIdx.x + 32];
  for (int s = 16; s > 0; s /= 2) acc += __shfl_down_sync(~0u, acc, s);
  if (threadIdx.x == 0) y[0] = acc;
}
