// task: row_max expect: wrong_result|runtime_fault on-gpu: wrong_result|runtime_fault|ok
// A tree for 32 lanes in a warp of 20: the values of the others are nothing, not the least.
// @launch kern<<<m, 20>>>(src, dst, m, n)
__global__ void kern(const float* src, float* dst, int m, int n) {
  float best = -INFINITY;
  for (int c = threadIdx.x; c < n; c += 20) best = fmaxf(best, src[blockIdx.x * n + c]);
  for (int d = 16; d > 0; d /= 2) best = fmaxf(best, __shfl_down_sync(0xffffffff, best, d));
  if (threadIdx.x == 0) dst[blockIdx.x] = best;
}
