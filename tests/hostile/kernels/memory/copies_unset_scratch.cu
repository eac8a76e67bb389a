// task: row_max expect: runtime_fault|wrong_result on-gpu: runtime_fault|wrong_result|ok
// Begins with limits that an asynchronous copy takes from scratch that nobody has set.
// @scratch limits float[32]
// @launch kern<<<m, 32>>>(src, limits, dst, m, n)
__global__ void kern(const float* src, const float* limits, float* dst, int m, int n) {
  __shared__ float low[32];
  const unsigned at = (unsigned)__cvta_generic_to_shared(low + threadIdx.x);
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(at), "l"(limits + threadIdx.x));
  asm volatile("cp.async.wait_all;" ::: "memory");
  __syncthreads();
  float best = low[threadIdx.x];
  for (int c = threadIdx.x; c < n; c += 32) best = fmaxf(best, src[blockIdx.x * n + c]);
  for (int d = 16; d > 0; d /= 2) best = fmaxf(best, __shfl_xor_sync(~0u, best, d));
  if (threadIdx.x == 0) dst[blockIdx.x] = best;
}
