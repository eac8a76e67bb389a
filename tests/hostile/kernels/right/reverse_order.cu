// task: abs_diff expect: ok
// Everything from the end, with unsigned wrap-around of the loop's counter.
// @launch kern<<<1, 1024>>>(lhs, rhs, z, len)
__global__ void kern(const float* lhs, const float* rhs, float* z, unsigned len) {
  for (unsigned i = len - 1 - threadIdx.x; i < len; i -= 1024u) z[i] = fabsf(__fsub_rn(lhs[i], rhs[i]));
}
