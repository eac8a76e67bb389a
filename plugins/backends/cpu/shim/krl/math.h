// Mathematical functions and floating-point intrinsics. Functions come from the C library; an intrinsic that trades
// accuracy for speed on a GPU (__expf, …) gives the accurate value here, within the error that CUDA documents for it.
#pragma once

#define INFINITY __builtin_inff()
#define NAN __builtin_nanf("")
#define HUGE_VAL __builtin_huge_val()
#define HUGE_VALF __builtin_huge_valf()
#define M_E 2.7182818284590452354
#define M_LOG2E 1.4426950408889634074
#define M_LN2 0.69314718055994530942
#define M_LN10 2.30258509299404568402
#define M_PI 3.14159265358979323846
#define M_PI_2 1.57079632679489661923
#define M_PI_4 0.78539816339744830962
#define M_1_PI 0.31830988618379067154
#define M_2_PI 0.63661977236758134308
#define M_2_SQRTPI 1.12837916709551257390
#define M_SQRT2 1.41421356237309504880
#define M_SQRT1_2 0.70710678118654752440

// name(float) and name(double) as overloads, namef and the double function by their C names; integers convert to double.
template <class T>
struct krl_integer_only {};
#define KRL_INTEGER(type) template <> struct krl_integer_only<type> { typedef double type_double; };
KRL_INTEGER(bool)
KRL_INTEGER(char)
KRL_INTEGER(signed char)
KRL_INTEGER(unsigned char)
KRL_INTEGER(short)
KRL_INTEGER(unsigned short)
KRL_INTEGER(int)
KRL_INTEGER(unsigned)
KRL_INTEGER(long)
KRL_INTEGER(unsigned long)
KRL_INTEGER(long long)
KRL_INTEGER(unsigned long long)
#undef KRL_INTEGER

#define KRL_UNARY(name)                                                                                            \
  extern "C" float name##f(float);                                                                                 \
  extern "C" double name(double);                                                                                  \
  KRL_FN float name(float x) { return name##f(x); }                                                                \
  template <class T>                                                                                               \
  KRL_FN typename krl_integer_only<T>::type_double name(T x) { return name((double)x); }
#define KRL_BINARY(name)                                                                                           \
  extern "C" float name##f(float, float);                                                                          \
  extern "C" double name(double, double);                                                                          \
  KRL_FN float name(float x, float y) { return name##f(x, y); }                                                    \
  KRL_FN double name(float x, double y) { return name((double)x, y); }                                             \
  KRL_FN double name(double x, float y) { return name(x, (double)y); }                                             \
  template <class T>                                                                                               \
  KRL_FN typename krl_integer_only<T>::type_double name(T x, double y) { return name((double)x, y); }              \
  template <class T>                                                                                               \
  KRL_FN typename krl_integer_only<T>::type_double name(double x, T y) { return name(x, (double)y); }
KRL_UNARY(acos) KRL_UNARY(acosh) KRL_UNARY(asin) KRL_UNARY(asinh) KRL_UNARY(atan) KRL_UNARY(atanh)
KRL_UNARY(cbrt) KRL_UNARY(ceil) KRL_UNARY(cos) KRL_UNARY(cosh) KRL_UNARY(erf) KRL_UNARY(erfc)
KRL_UNARY(exp) KRL_UNARY(exp2) KRL_UNARY(expm1) KRL_UNARY(exp10) KRL_UNARY(fabs) KRL_UNARY(floor)
KRL_UNARY(lgamma) KRL_UNARY(log) KRL_UNARY(log10) KRL_UNARY(log1p) KRL_UNARY(log2) KRL_UNARY(logb)
KRL_UNARY(nearbyint) KRL_UNARY(rint) KRL_UNARY(round) KRL_UNARY(sin) KRL_UNARY(sinh) KRL_UNARY(sqrt)
KRL_UNARY(tan) KRL_UNARY(tanh) KRL_UNARY(tgamma) KRL_UNARY(trunc)
KRL_UNARY(j0) KRL_UNARY(j1) KRL_UNARY(y0) KRL_UNARY(y1)
KRL_BINARY(atan2) KRL_BINARY(fdim) KRL_BINARY(fmax) KRL_BINARY(fmin) KRL_BINARY(fmod) KRL_BINARY(hypot)
KRL_BINARY(nextafter) KRL_BINARY(pow) KRL_BINARY(remainder) KRL_BINARY(copysign)
#undef KRL_UNARY
#undef KRL_BINARY

extern "C" {
float fmaf(float, float, float);
double fma(double, double, double);
float frexpf(float, int*);
double frexp(double, int*);
float ldexpf(float, int);
double ldexp(double, int);
float scalbnf(float, int);
double scalbn(double, int);
float scalblnf(float, long);
double scalbln(double, long);
int ilogbf(float);
int ilogb(double);
float modff(float, float*);
double modf(double, double*);
float remquof(float, float, int*);
double remquo(double, double, int*);
void sincosf(float, float*, float*);
void sincos(double, double*, double*);
long lrintf(float);
long lrint(double);
long lroundf(float);
long lround(double);
long long llrintf(float);
long long llrint(double);
long long llroundf(float);
long long llround(double);
}
KRL_FN float fma(float x, float y, float z) { return fmaf(x, y, z); }
KRL_FN float ldexp(float x, int e) { return ldexpf(x, e); }
KRL_FN float abs(float x) { return fabsf(x); }
KRL_FN double abs(double x) { return fabs(x); }
KRL_FN float pow(float x, int y) { return powf(x, (float)y); }
KRL_FN double pow(double x, int y) { return pow(x, (double)y); }
KRL_FN double pow(int x, int y) { return pow((double)x, (double)y); }

#define KRL_MIN_MAX(result, a, b)                                              \
  KRL_FN result min(a x, b y) { return fmin((result)x, (result)y); }           \
  KRL_FN result max(a x, b y) { return fmax((result)x, (result)y); }
KRL_MIN_MAX(float, float, float)
KRL_MIN_MAX(double, double, double)
KRL_MIN_MAX(double, float, double)
KRL_MIN_MAX(double, double, float)
#undef KRL_MIN_MAX

#define KRL_CLASSIFY(name, builtin)                          \
  KRL_FN bool name(float x) { return builtin(x); }           \
  KRL_FN bool name(double x) { return builtin(x); }
KRL_CLASSIFY(isnan, __builtin_isnan)
KRL_CLASSIFY(isinf, __builtin_isinf)
KRL_CLASSIFY(isfinite, __builtin_isfinite)
KRL_CLASSIFY(isnormal, __builtin_isnormal)
KRL_CLASSIFY(signbit, __builtin_signbit)
#undef KRL_CLASSIFY

// Products and sums that must not be fused with their neighbours.
#define KRL_ALONE(expression) __builtin_assoc_barrier(expression)
KRL_FN float __fadd_rn(float x, float y) { return KRL_ALONE(x + y); }
KRL_FN float __fsub_rn(float x, float y) { return KRL_ALONE(x - y); }
KRL_FN float __fmul_rn(float x, float y) { return KRL_ALONE(x * y); }
KRL_FN float __fdiv_rn(float x, float y) { return x / y; }
KRL_FN float __frcp_rn(float x) { return 1.0f / x; }
KRL_FN float __fsqrt_rn(float x) { return sqrtf(x); }
KRL_FN float __frsqrt_rn(float x) { return (float)(1.0 / sqrt((double)x)); }
KRL_FN float __fmaf_rn(float x, float y, float z) { return fmaf(x, y, z); }
KRL_FN double __dadd_rn(double x, double y) { return KRL_ALONE(x + y); }
KRL_FN double __dsub_rn(double x, double y) { return KRL_ALONE(x - y); }
KRL_FN double __dmul_rn(double x, double y) { return KRL_ALONE(x * y); }
KRL_FN double __ddiv_rn(double x, double y) { return x / y; }
KRL_FN double __drcp_rn(double x) { return 1.0 / x; }
KRL_FN double __dsqrt_rn(double x) { return sqrt(x); }
KRL_FN double __fma_rn(double x, double y, double z) { return fma(x, y, z); }

KRL_FN float __fdividef(float x, float y) { return x / y; }
KRL_FN float fdividef(float x, float y) { return x / y; }
KRL_FN float __expf(float x) { return expf(x); }
KRL_FN float __exp10f(float x) { return exp10f(x); }
KRL_FN float __logf(float x) { return logf(x); }
KRL_FN float __log2f(float x) { return log2f(x); }
KRL_FN float __log10f(float x) { return log10f(x); }
KRL_FN float __powf(float x, float y) { return powf(x, y); }
KRL_FN float __sinf(float x) { return sinf(x); }
KRL_FN float __cosf(float x) { return cosf(x); }
KRL_FN float __tanf(float x) { return tanf(x); }
KRL_FN float __tanhf(float x) { return tanhf(x); }
KRL_FN void __sincosf(float x, float* s, float* c) { *s = sinf(x), *c = cosf(x); }
KRL_FN float __saturatef(float x) { return x > 0.0f ? (x < 1.0f ? x : 1.0f) : 0.0f; }

KRL_FN float rsqrtf(float x) { return (float)(1.0 / sqrt((double)x)); }
KRL_FN double rsqrt(double x) { return 1.0 / sqrt(x); }
KRL_FN float rsqrt(float x) { return rsqrtf(x); }
KRL_FN float rcbrtf(float x) { return (float)(1.0 / cbrt((double)x)); }
KRL_FN double rcbrt(double x) { return 1.0 / cbrt(x); }
KRL_FN float rhypotf(float x, float y) { return 1.0f / hypotf(x, y); }
KRL_FN float norm3df(float x, float y, float z) { return (float)sqrt((double)x * x + (double)y * y + (double)z * z); }
KRL_FN float norm4df(float x, float y, float z, float w) {
  return (float)sqrt((double)x * x + (double)y * y + (double)z * z + (double)w * w);
}
KRL_FN float sinpif(float x) { return (float)sin(3.14159265358979323846 * remainder((double)x, 2.0)); }
KRL_FN float cospif(float x) { return (float)cos(3.14159265358979323846 * remainder((double)x, 2.0)); }
KRL_FN double sinpi(double x) { return sin(3.14159265358979323846 * remainder(x, 2.0)); }
KRL_FN double cospi(double x) { return cos(3.14159265358979323846 * remainder(x, 2.0)); }
KRL_FN void sincospif(float x, float* s, float* c) { *s = sinpif(x), *c = cospif(x); }
KRL_FN float normcdff(float x) { return (float)(0.5 * erfc(-0.70710678118654752440 * (double)x)); }
KRL_FN double normcdf(double x) { return 0.5 * erfc(-0.70710678118654752440 * x); }

// Conversions saturate and turn NaN into 0, as the hardware does.
#define KRL_CONVERT(name, from, to, rounded, low, high)                                                               \
  KRL_FN to name(from x) {                                                                                            \
    const from r = rounded;                                                                                           \
    return r != r ? (to)0 : r <= (from)(low) ? (to)(low) : r >= (from)(high) ? (to)(high) : (to)r;                    \
  }
#define KRL_CONVERTS(prefix, from, to, f, low, high)          \
  KRL_CONVERT(prefix##_rn, from, to, rint##f(x), low, high)   \
  KRL_CONVERT(prefix##_rz, from, to, trunc##f(x), low, high)  \
  KRL_CONVERT(prefix##_ru, from, to, ceil##f(x), low, high)   \
  KRL_CONVERT(prefix##_rd, from, to, floor##f(x), low, high)
KRL_CONVERTS(__float2int, float, int, f, -2147483647 - 1, 2147483647)
KRL_CONVERTS(__float2uint, float, unsigned, f, 0, 4294967295u)
KRL_CONVERTS(__float2ll, float, long long, f, -9223372036854775807ll - 1, 9223372036854775807ll)
KRL_CONVERTS(__float2ull, float, unsigned long long, f, 0, 18446744073709551615ull)
KRL_CONVERTS(__double2int, double, int, , -2147483647 - 1, 2147483647)
KRL_CONVERTS(__double2uint, double, unsigned, , 0, 4294967295u)
KRL_CONVERTS(__double2ll, double, long long, , -9223372036854775807ll - 1, 9223372036854775807ll)
KRL_CONVERTS(__double2ull, double, unsigned long long, , 0, 18446744073709551615ull)
#undef KRL_CONVERTS
#undef KRL_CONVERT
KRL_FN float __int2float_rn(int x) { return (float)x; }
KRL_FN float __uint2float_rn(unsigned x) { return (float)x; }
KRL_FN float __ll2float_rn(long long x) { return (float)x; }
KRL_FN float __ull2float_rn(unsigned long long x) { return (float)x; }
KRL_FN double __int2double_rn(int x) { return x; }
KRL_FN double __uint2double_rn(unsigned x) { return x; }
KRL_FN double __ll2double_rn(long long x) { return (double)x; }
KRL_FN double __ull2double_rn(unsigned long long x) { return (double)x; }
KRL_FN float __double2float_rn(double x) { return (float)x; }

// Functions that CUDA has and the C library has not, and roundings that C++ cannot express.
#define KRL_MISSING(result, name, ...) \
  extern "C" result name(__VA_ARGS__) __attribute__((error("unsupported on cpu: " #name)));
KRL_MISSING(float, erfinvf, float)
KRL_MISSING(double, erfinv, double)
KRL_MISSING(float, erfcinvf, float)
KRL_MISSING(double, erfcinv, double)
KRL_MISSING(float, normcdfinvf, float)
KRL_MISSING(double, normcdfinv, double)
KRL_MISSING(float, erfcxf, float)
KRL_MISSING(double, erfcx, double)
KRL_MISSING(float, cyl_bessel_i0f, float)
KRL_MISSING(float, cyl_bessel_i1f, float)
KRL_MISSING(float, __fadd_rz, float, float)
KRL_MISSING(float, __fadd_ru, float, float)
KRL_MISSING(float, __fadd_rd, float, float)
KRL_MISSING(float, __fmul_rz, float, float)
KRL_MISSING(float, __fmul_ru, float, float)
KRL_MISSING(float, __fmul_rd, float, float)
KRL_MISSING(float, __fdiv_rz, float, float)
KRL_MISSING(float, __fdiv_ru, float, float)
KRL_MISSING(float, __fdiv_rd, float, float)
KRL_MISSING(float, __fmaf_rz, float, float, float)
KRL_MISSING(float, __fmaf_ru, float, float, float)
KRL_MISSING(float, __fmaf_rd, float, float, float)
KRL_MISSING(void, __syncthreads_cluster)
KRL_MISSING(void*, malloc, size_t)
KRL_MISSING(void, free, void*)
#undef KRL_MISSING
