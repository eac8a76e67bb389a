// task: row_max
// @launch top<<<m, 64>>>(src, dst, n)
__global__ void top(const float* src, float* dst, int n) {
  __shared__ float s[64];
  float best = 0.0f;
  for (int j = threadIdx.x; j < n; j += 64) best = fmaxf(best, src[blockIdx.x * n + j]);
  s[threadIdx.x] = best;
  __syncthreads();
  for (int d = 32; d > 0; d /= 2) {
    if (threadIdx.x < d) s[threadIdx.x] = fmaxf(s[threadIdx.x], s[threadIdx.x + d]);
    __syncthreads();
  }
  if (threadIdx.x == 0) dst[blockIdx.x] = s[0];
}
