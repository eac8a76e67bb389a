// task: row_max expect: ok
// Lanes hand over through volatile words, and wait for each other before and after.
// @launch kern<<<m, 32>>>(src, dst, n)
__global__ void kern(const float* src, float* dst, int n) {
  __shared__ volatile float best[32];
  const int lane = threadIdx.x;
  float mine = -INFINITY;
  for (int c = lane; c < n; c += 32) mine = fmaxf(mine, src[blockIdx.x * n + c]);
  best[lane] = mine;
  __syncwarp();
  for (int d = 16; d > 0; d /= 2) {
    const float other = best[lane ^ d];
    __syncwarp();
    mine = fmaxf(mine, other);
    best[lane] = mine;
    __syncwarp();
  }
  if (lane == 0) dst[blockIdx.x] = best[31];
}
