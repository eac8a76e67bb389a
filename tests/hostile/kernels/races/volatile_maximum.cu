// task: total_max expect: nondeterministic|runtime_fault|wrong_result on-gpu: nondeterministic|wrong_result|ok
// Between the comparison and the store another block may have stored a larger value.
// @launch clear<<<1, 1>>>(res)
// @launch kern<<<12, 64>>>(a, res, N)
__global__ void clear(float* res) { *res = -INFINITY; }
__global__ void kern(const float* a, float* res, int N) {
  float best = -INFINITY;
  for (int i = blockIdx.x * 64 + threadIdx.x; i < N; i += 12 * 64) best = fmaxf(best, a[i]);
  for (int d = 16; d > 0; d /= 2) best = fmaxf(best, __shfl_xor_sync(~0u, best, d));
  volatile float* shared_best = res;
  if (threadIdx.x % 32 == 0) {
    __threadfence();
    if (best > *shared_best) *shared_best = best;
    __threadfence();
  }
}
