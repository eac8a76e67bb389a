// task: row_max expect: runtime_fault|wrong_result|nondeterministic on-gpu: runtime_fault|wrong_result|nondeterministic
// A turn for each warp to raise a maximum that begins as whatever is there.
// @launch row_max<<<m, 64>>>(src, dst, n)
__global__ void row_max(const float* src, float* dst, int n) {
  __shared__ float most;
  float mine = -INFINITY;
  for (int c = threadIdx.x; c < n; c += 64) mine = fmaxf(mine, src[blockIdx.x * n + c]);
  for (int step = 16; step > 0; step /= 2) mine = fmaxf(mine, __shfl_xor_sync(~0u, mine, step));
  if (threadIdx.x == 0) most = fmaxf(most, mine);
  __syncthreads();
  if (threadIdx.x == 32) most = fmaxf(most, mine);
  __syncthreads();
  if (threadIdx.x == 0) dst[blockIdx.x] = most;
}
