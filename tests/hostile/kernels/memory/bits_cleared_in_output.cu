// task: total_max expect: runtime_fault|wrong_result|nondeterministic on-gpu: runtime_fault|wrong_result|nondeterministic|ok
// Clears bits of scratch words that nobody has set.
// @scratch flags int[1]
// @launch look<<<ceil_div(N, 128), 128>>>(a, flags, N)
// @launch decide<<<1, 32>>>(a, flags, res, N)
__global__ void look(const float* a, int* flags, int N) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i < N && a[i] > 1e30f) atomicAnd(flags, ~1);
}
__global__ void decide(const float* a, const int* flags, float* res, int N) {
  float best = a[0];
  for (int i = threadIdx.x; i < N; i += 32) best = fmaxf(best, a[i]);
  for (int d = 16; d > 0; d /= 2) best = fmaxf(best, __shfl_xor_sync(~0u, best, d));
  if (threadIdx.x == 0) *res = (*flags & 1) != 0 ? best : best + 1;
}
