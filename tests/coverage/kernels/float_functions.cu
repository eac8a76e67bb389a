// The functions of <math.h> for float.
__global__ void float_functions(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float a = x[i], b = fabsf(a) + 0.5f;
  int e;
  float part, r = sinf(a) + cosf(a) + tanf(a) + asinf(a / (1 + b)) + acosf(a / (1 + b)) + atanf(a) + atan2f(a, b) + sinhf(a) + coshf(a) + tanhf(a) + asinhf(a) + acoshf(1 + b) + atanhf(a / (1 + b));
  r += expf(a) + exp2f(a) + exp10f(a) + expm1f(a) + logf(b) + log2f(b) + log10f(b) + log1pf(b) + logbf(b) + powf(b, a) + sqrtf(b) + rsqrtf(b) + cbrtf(a) + rcbrtf(b) + hypotf(a, b) + norm3df(a, b, 1) + rnorm3df(a, b, 1);
  r += erff(a) + erfcf(a) + erfinvf(a / (1 + b)) + erfcxf(b) + normcdff(a) + lgammaf(b) + tgammaf(b) + j0f(a) + y0f(b) + cyl_bessel_i0f(a);
  r += floorf(a) + ceilf(a) + truncf(a) + roundf(a) + rintf(a) + nearbyintf(a) + fmodf(a, b) + remainderf(a, b) + fdimf(a, b) + fminf(a, b) + fmaxf(a, b) + fmaf(a, b, 1) + copysignf(a, b) + nextafterf(a, b) + frexpf(a, &e) + e + ldexpf(a, 3) + scalbnf(a, 2) + ilogbf(b) + modff(a, &part) + part + lrintf(a) + llroundf(a);
  r += isnan(a) + isinf(a) + isfinite(a) + signbit(a) + sinpif(a) + cospif(a);
  y[i] = r;
}
