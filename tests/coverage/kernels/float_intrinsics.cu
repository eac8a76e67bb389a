// Rounding modes, approximations, conversions and bit casts of float.
__global__ void float_intrinsics(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float a = x[i], b = x[n - 1 - i];
  float r = __fadd_rn(a, b) + __fadd_rz(a, b) + __fadd_ru(a, b) + __fadd_rd(a, b) + __fmul_rz(a, b) + __fmul_rd(a, b) + __fmaf_rn(a, b, a) + __fmaf_rz(a, b, a) + __fmaf_ru(a, b, a) + __fsub_rd(a, b);
  r += __fdiv_rn(a, b) + __fdiv_rz(a, b) + __frcp_ru(a) + __fsqrt_rd(fabsf(a)) + __fsqrt_rn(fabsf(a)) + __frsqrt_rn(fabsf(a) + 1) + __fdividef(a, b) + __expf(a) + __exp10f(a) + __logf(fabsf(a)) + __log2f(fabsf(a)) + __log10f(fabsf(a)) + __powf(fabsf(a), b) + __sinf(a) + __cosf(a) + __tanf(a) + __saturatef(a);
  r += __float2int_rn(a) + __float2int_rz(a) + __float2uint_ru(fabsf(a)) + (float)__float2ll_rd(a) + (float)__float2ull_rn(fabsf(a)) + __int2float_rz(i) + __uint2float_ru(i) + __ll2float_rd(i) + __ull2float_rn(i) + __int_as_float(__float_as_int(a) ^ 1) + __uint_as_float(__float_as_uint(b) & 0x7fffffff);
  y[i] = r;
}
