// task: row_max expect: ok
// Each half of a warp exchanges among its own lanes; then all meet.
// @launch kern<<<m, 32>>>(src, dst, n)
__global__ void kern(const float* src, float* dst, int n) {
  __shared__ float part[32];
  const int lane = threadIdx.x;
  const unsigned half = lane < 16 ? 0x0000ffffu : 0xffff0000u;
  float best = -INFINITY;
  for (int c = lane; c < n; c += 32) best = fmaxf(best, src[blockIdx.x * n + c]);
  part[lane] = best;
  if (lane < 16) {
    __syncwarp(half);
    best = fmaxf(part[lane], part[lane ^ 8]);
    __syncwarp(half);
  } else {
    for (int d = 1; d < 3; ++d) {
      __syncwarp(half);
      best = fmaxf(best, part[16 + (lane + d) % 16]);
    }
    __syncwarp(half);
  }
  part[lane] = best;
  __syncwarp();
  if (lane != 0) return;
  for (int t = 1; t < 32; ++t) best = fmaxf(best, part[t]);
  dst[blockIdx.x] = best;
}
