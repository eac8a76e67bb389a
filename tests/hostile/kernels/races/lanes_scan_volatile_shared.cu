// task: row_max expect: runtime_fault|nondeterministic|wrong_result on-gpu: nondeterministic|wrong_result|runtime_fault|ok
// Halves of a warp hand over through volatile words, where nothing makes lanes wait for each other.
// @launch kern<<<m, 64>>>(src, dst, n)
__global__ void kern(const float* src, float* dst, int n) {
  __shared__ volatile float best[64];
  const int t = threadIdx.x;
  float mine = -INFINITY;
  for (int c = t; c < n; c += 64) mine = fmaxf(mine, src[blockIdx.x * n + c]);
  best[t] = mine;
  __syncthreads();
  if (t >= 32) return;
  for (int d = 32; d > 0; d /= 2) {
    const float other = best[t + d];
    if (other > best[t]) best[t] = other;
  }
  if (t == 0) dst[blockIdx.x] = best[0];
}
