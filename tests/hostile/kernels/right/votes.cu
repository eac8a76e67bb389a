// task: total_max expect: ok
// all, any, ballot, uni through votes: a search for the largest value by its bits, from the top.
// @launch kern<<<1, 32>>>(a, res, N)
__device__ unsigned ordered(float v) {
  const unsigned b = __float_as_uint(v);
  return b >> 31 ? ~b : b | 0x80000000u;
}
__global__ void kern(const float* a, float* res, int N) {
  unsigned best = 0;
  for (int i = threadIdx.x; i < N; i += 32) best = max(best, ordered(a[i]));
  unsigned found = 0;
  for (int bit = 31; bit >= 0; --bit) {
    const unsigned wanted = found | 1u << bit;
    const bool here = (best & ~((1u << bit) - 1)) == wanted;
    if (__any_sync(0xffffffffu, here)) found = wanted;
  }
  const unsigned who = __ballot_sync(0xffffffffu, best == found);
  if (__all_sync(0xffffffffu, best <= found) && threadIdx.x == __ffs(who) - 1)
    *res = __uint_as_float(found >> 31 ? found & 0x7fffffffu : ~found);
}
