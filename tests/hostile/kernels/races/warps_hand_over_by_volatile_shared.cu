// task: row_max expect: runtime_fault|nondeterministic|wrong_result on-gpu: nondeterministic|wrong_result|ok
// Each warp passes a maximum on to the next one by a volatile flag after a volatile value, without fences.
// @launch kern<<<m, 96>>>(src, dst, n)
__global__ void kern(const float* src, float* dst, int n) {
  __shared__ volatile float best[3];
  __shared__ volatile int there[3];
  const int warp = threadIdx.x / 32;
  if (threadIdx.x < 3) {
    best[threadIdx.x] = -1;
    there[threadIdx.x] = 0;
  }
  __syncthreads();
  float mine = -INFINITY;
  for (int c = threadIdx.x; c < n; c += 96) mine = fmaxf(mine, src[blockIdx.x * n + c]);
  for (int d = 16; d > 0; d /= 2) mine = fmaxf(mine, __shfl_xor_sync(~0u, mine, d));
  if (threadIdx.x % 32 != 0) return;
  if (warp > 0) {
    while (there[warp - 1] == 0) {
    }
    mine = fmaxf(mine, best[warp - 1]);
  }
  best[warp] = mine;
  there[warp] = 1;
  if (warp == 2) dst[blockIdx.x] = mine;
}
