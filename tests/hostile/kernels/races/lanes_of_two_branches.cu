// task: row_max expect: runtime_fault|nondeterministic|wrong_result on-gpu: nondeterministic|wrong_result|runtime_fault|ok
// One branch stores and the next one loads: its lane need not come later.
// @launch kern<<<m, 32>>>(src, dst, n)
__global__ void kern(const float* src, float* dst, int n) {
  __shared__ volatile float half[2];
  float best = -INFINITY;
  for (int c = threadIdx.x; c < n; c += 32) best = fmaxf(best, src[blockIdx.x * n + c]);
  for (int d = 8; d > 0; d /= 2) best = fmaxf(best, __shfl_xor_sync(~0u, best, d));
  if (threadIdx.x % 16 == 0) half[threadIdx.x / 16] = best;
  if (threadIdx.x == 5) dst[blockIdx.x] = fmaxf(half[0], half[1]);
}
