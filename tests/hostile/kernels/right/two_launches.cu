// task: total_sum expect: ok
// @scratch partial float[ceil_div(n, 256)]
// @launch block_sums<<<ceil_div(n, 256), 256, 256 * 4>>>(x, partial, n)
// @launch final_sum<<<1, 32>>>(partial, y, partial.size)
__global__ void block_sums(const float* x, float* partial, int n) {
  extern __shared__ float s[];
  int i = blockIdx.x * 256 + threadIdx.x;
  s[threadIdx.x] = i < n ? x[i] : 0.0f;
  for (int d = 128; d > 0; d /= 2) {
    __syncthreads();
    if (threadIdx.x < d) s[threadIdx.x] += s[threadIdx.x + d];
  }
  if (threadIdx.x == 0) partial[blockIdx.x] = s[0];
}
__global__ void final_sum(const float* partial, float* y, int m) {
  float sum = 0;
  for (int i = threadIdx.x; i < m; i += 32) sum += partial[i];
  for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffffu, sum, d);
  if (threadIdx.x == 0) y[0] = sum;
}
