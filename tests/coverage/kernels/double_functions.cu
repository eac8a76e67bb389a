// Functions and conversions of double.
__global__ void double_functions(const double* x, double* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const double a = x[i], b = fabs(a) + 0.5;
  double r = sin(a) + cos(a) + tan(a) + asin(a / (1 + b)) + atan(a) + sinh(a) + tanh(a) + exp(a) + exp2(a) + expm1(a) + log(b) + log2(b) + log10(b) + log1p(b) + pow(b, a) + sqrt(b) + rsqrt(b) + cbrt(a) + hypot(a, b) + erf(a) + erfc(a) + lgamma(b) + fmod(a, b) + floor(a) + ceil(a) + trunc(a) + round(a) + rint(a) + fma(a, b, 1.0) + fmin(a, b) + fmax(a, b) + copysign(a, b) + ldexp(a, 2);
  r += __dadd_rz(a, b) + __dmul_ru(a, b) + __fma_rd(a, b, a) + __drcp_rn(b) + __dsqrt_rz(b) + __ddiv_rn(a, b) + __double2int_rn(a) + __double2ll_rz(a) + __double2float_rd(a) + __int2double_rn(i) + __ll2double_rz(i) + __double2hiint(a) + __double2loint(a) + __hiloint2double(1, 2) + __longlong_as_double(__double_as_longlong(a) + 1);
  y[i] = r;
}
