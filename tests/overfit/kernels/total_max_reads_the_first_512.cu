// task: total_max
// @launch top<<<1, 512>>>(a, res, N)
__global__ void top(const float* a, float* res, int N) {
  __shared__ float s[512];
  float best = a[threadIdx.x];
  for (int i = threadIdx.x; i < N; i += 512) best = fmaxf(best, a[i]);
  s[threadIdx.x] = best;
  __syncthreads();
  for (int d = 256; d > 0; d >>= 1) {
    if (threadIdx.x < d) s[threadIdx.x] = fmaxf(s[threadIdx.x], s[threadIdx.x + d]);
    __syncthreads();
  }
  if (threadIdx.x == 0) res[0] = s[0];
}
