// task: row_max expect: runtime_fault on-gpu: nondeterministic|wrong_result|runtime_fault|ok
// Lanes 0 to 15 wait for each other and read what lanes 16 to 31 have stored.
// @launch kern<<<m, 32>>>(src, dst, n)
__global__ void kern(const float* src, float* dst, int n) {
  __shared__ float part[32];
  const int lane = threadIdx.x;
  float best = -INFINITY;
  for (int c = lane; c < n; c += 32) best = fmaxf(best, src[blockIdx.x * n + c]);
  part[lane] = best;
  if (lane < 16) {
    __syncwarp(0x0000ffffu);
    best = fmaxf(best, part[31 - lane]);
    for (int d = 8; d > 0; d /= 2) best = fmaxf(best, __shfl_xor_sync(0x0000ffffu, best, d));
    if (lane == 0) dst[blockIdx.x] = best;
  }
}
