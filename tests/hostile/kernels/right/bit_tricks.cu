// task: abs_diff expect: ok
// fabs as a mask of the sign, the difference through integers.
// @launch kern<<<ceil_div(len, 128), 128>>>(lhs, rhs, z, len)
__global__ void kern(const float* lhs, const float* rhs, float* z, int len) {
  const int i = blockIdx.x << 7 | threadIdx.x;
  if (i < len) z[i] = __uint_as_float(__float_as_uint(lhs[i] - rhs[i]) & 0x7fffffffu);
}
