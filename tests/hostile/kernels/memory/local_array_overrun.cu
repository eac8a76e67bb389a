// task: row_max expect: runtime_fault|wrong_result on-gpu: ok|runtime_fault|wrong_result
// An index that leaves a local array.
// @launch kern<<<ceil_div(m, 32), 32>>>(src, dst, m, n)
__global__ void kern(const float* src, float* dst, int m, int n) {
  const int r = blockIdx.x * 32 + threadIdx.x;
  if (r >= m) return;
  float kept[8];
  for (int k = 0; k < 8; ++k) kept[k] = -INFINITY;
  for (int c = 0; c < n; ++c) kept[c * 4000] = fmaxf(kept[c % 8], src[r * n + c]);
  float best = -INFINITY;
  for (int k = 0; k < 8; ++k) best = fmaxf(best, kept[k]);
  dst[r] = best;
}
