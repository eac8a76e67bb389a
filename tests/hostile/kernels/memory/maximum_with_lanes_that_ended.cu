// task: row_max expect: wrong_result|runtime_fault on-gpu: wrong_result|runtime_fault|ok
// Lanes without elements return before the others exchange their maxima.
// @launch kern<<<m, 32>>>(src, dst, m, n)
__global__ void kern(const float* src, float* dst, int m, int n) {
  if (threadIdx.x >= n || threadIdx.x >= 24) return;
  float best = -INFINITY;
  const int lanes = n < 24 ? n : 24;
  for (int c = threadIdx.x; c < n; c += lanes) best = fmaxf(best, src[blockIdx.x * n + c]);
  for (int d = 1; d < 32; d *= 2) best = fmaxf(best, __shfl_xor_sync(0xffffffff, best, d));
  if (threadIdx.x == 0) dst[blockIdx.x] = best;
}
