// task: total_sum
// @scratch partial float[ceil_div(n, 256)]
// @launch block_sums<<<ceil_div(n, 256), 256>>>(x, partial, n)
// @launch final_sum<<<1, 32>>>(partial, y, partial.size)
__global__ void block_sums(const float* x, float* partial, int n) {
  __shared__ float s[256];
  int i = blockIdx.x * 256 + threadIdx.x;
  s[threadIdx.x] = i < n ? x[i] : 0.0f;
  __syncthreads();
  for (int d = 128; d > 0; d >>= 1) {
    if (threadIdx.x < d) s[threadIdx.x] += s[threadIdx.x + d];
    __syncthreads();
  }
  if (threadIdx.x == 0) partial[blockIdx.x] = s[0];
}
__global__ void final_sum(const float* partial, float* y, int blocks) {
  float v = threadIdx.x < blocks ? partial[threadIdx.x] : 0.0f;
  if (threadIdx.x + 32 < blocks) v += partial[threadIdx.x + 32];
  if (threadIdx.x + 64 < blocks && threadIdx.x == 0) v += partial[64];
  for (int d = 16; d > 0; d >>= 1) v += __shfl_down_sync(0xffffffff, v, d);
  if (threadIdx.x == 0) y[0] = v;
}
