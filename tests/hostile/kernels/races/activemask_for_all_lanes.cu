// task: row_max expect: runtime_fault|nondeterministic|wrong_result on-gpu: nondeterministic|wrong_result|runtime_fault|ok
// Lanes leave a loop at different times; __activemask() does not say that all of them are here.
// @launch kern<<<m, 32>>>(src, dst, n)
__global__ void kern(const float* src, float* dst, int n) {
  float best = -INFINITY;
  for (int c = threadIdx.x; c < n; c += 32) best = fmaxf(best, src[blockIdx.x * n + c]);
  const unsigned here = __activemask();
  for (int d = 16; d > 0; d /= 2) best = fmaxf(best, __shfl_down_sync(here, best, d));
  if (threadIdx.x == 0) dst[blockIdx.x] = best;
}
