// task: prefix_sum expect: ok
// One block of 32 warps: scans by shuffles, of warps, then of their totals; a loop with a carry.
// @launch kern<<<1, 1024>>>(x, y, n)
__global__ void kern(const float* x, float* y, int n) {
  __shared__ float totals[32];
  __shared__ float carry;
  const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  if (threadIdx.x == 0) carry = 0;
  for (int base = 0; base < n; base += 1024) {
    const int i = base + threadIdx.x;
    float v = i < n ? x[i] : 0;
    for (int d = 1; d < 32; d *= 2) {
      const float left = __shfl_up_sync(~0u, v, d);
      if (lane >= d) v += left;
    }
    if (lane == 31) totals[warp] = v;
    __syncthreads();
    if (warp == 0) {
      float t = totals[lane];
      for (int d = 1; d < 32; d *= 2) {
        const float left = __shfl_up_sync(~0u, t, d);
        if (lane >= d) t += left;
      }
      totals[lane] = t;
    }
    __syncthreads();
    v += carry + (warp > 0 ? totals[warp - 1] : 0);
    if (i < n) y[i] = v;
    __syncthreads();
    if (threadIdx.x == 1023) carry = v;
    __syncthreads();
  }
}
