// task: total_max expect: ok
// One block of 1024 threads, the whole reduction in shared memory.
// @launch kern<<<1, 1024>>>(a, res, N)
__global__ void __launch_bounds__(1024, 1) kern(const float* a, float* res, int N) {
  __shared__ float best[1024];
  float v = -INFINITY;
  for (int i = threadIdx.x; i < N; i += 1024) v = fmaxf(v, a[i]);
  best[threadIdx.x] = v;
  for (int d = 512; d; d >>= 1) {
    __syncthreads();
    if (threadIdx.x < d) best[threadIdx.x] = fmaxf(best[threadIdx.x], best[threadIdx.x + d]);
  }
  if (threadIdx.x == 0) *res = best[0];
}
