// task: total_max expect: ok
// Many threads store the same value to the same word: no order matters.
// @launch kern<<<1, 256>>>(a, res, N)
__global__ void kern(const float* a, float* res, int N) {
  __shared__ int begun;
  __shared__ float best[256];
  begun = 7;
  float mine = -INFINITY;
  for (int i = threadIdx.x; i < N; i += 256) mine = fmaxf(mine, a[i]);
  best[threadIdx.x] = mine;
  __syncthreads();
  for (int d = 128; d > 0; d /= 2) {
    if (threadIdx.x < d) best[threadIdx.x] = fmaxf(best[threadIdx.x], best[threadIdx.x + d]);
    __syncthreads();
  }
  if (begun == 7) *res = best[0];
}
