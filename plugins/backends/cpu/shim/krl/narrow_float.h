// Arithmetic of a 16-bit float type KRL_T and of its pair KRL_T2, which have a conversion to float and KRL_ROUND(float) and
// KRL_ROUND_DOUBLE(double) back. Included once for each type, without a guard. Sums, products and quotients of two such
// values are rounded once: single precision has more than twice their digits.

#define KRL_ARITHMETIC(op)                                                                             \
  KRL_FN KRL_T operator op(const KRL_T& a, const KRL_T& b) { return KRL_ROUND((float)a op (float)b); } \
  KRL_FN KRL_T& operator op##=(KRL_T& a, const KRL_T& b) { return a = a op b; }                        \
  KRL_FN KRL_T2 operator op(const KRL_T2& a, const KRL_T2& b) { return {a.x op b.x, a.y op b.y}; }     \
  KRL_FN KRL_T2& operator op##=(KRL_T2& a, const KRL_T2& b) { return a = a op b; }
KRL_ARITHMETIC(+)
KRL_ARITHMETIC(-)
KRL_ARITHMETIC(*)
KRL_ARITHMETIC(/)
#undef KRL_ARITHMETIC
KRL_FN KRL_T operator-(const KRL_T& a) { return KRL_ROUND(-(float)a); }
KRL_FN KRL_T operator+(const KRL_T& a) { return a; }
KRL_FN KRL_T& operator++(KRL_T& a) { return a = KRL_ROUND((float)a + 1.0f); }
KRL_FN KRL_T& operator--(KRL_T& a) { return a = KRL_ROUND((float)a - 1.0f); }
KRL_FN KRL_T2 operator-(const KRL_T2& a) { return {-a.x, -a.y}; }

// name(a, b) on values, name2 on pairs.
#define KRL_BINARY(name, expression)                                                          \
  KRL_FN KRL_T name(KRL_T a, KRL_T b) { return expression; }                                  \
  KRL_FN KRL_T2 name##2(KRL_T2 a, KRL_T2 b) { return {name(a.x, b.x), name(a.y, b.y)}; }
KRL_BINARY(__hadd, a + b)
KRL_BINARY(__hsub, a - b)
KRL_BINARY(__hmul, a * b)
KRL_BINARY(__hmax, KRL_ROUND(fmaxf((float)a, (float)b)))
KRL_BINARY(__hmin, KRL_ROUND(fminf((float)a, (float)b)))
#undef KRL_BINARY
KRL_FN KRL_T __hdiv(KRL_T a, KRL_T b) { return a / b; }
KRL_FN KRL_T2 __h2div(KRL_T2 a, KRL_T2 b) { return a / b; }
KRL_FN KRL_T __hadd_rn(KRL_T a, KRL_T b) { return a + b; }
KRL_FN KRL_T __hsub_rn(KRL_T a, KRL_T b) { return a - b; }
KRL_FN KRL_T __hmul_rn(KRL_T a, KRL_T b) { return a * b; }
KRL_FN KRL_T __hadd_sat(KRL_T a, KRL_T b) { return KRL_ROUND(__saturatef((float)a + (float)b)); }
KRL_FN KRL_T __hmul_sat(KRL_T a, KRL_T b) { return KRL_ROUND(__saturatef((float)a * (float)b)); }
KRL_FN KRL_T __hfma(KRL_T a, KRL_T b, KRL_T c) { return KRL_ROUND_DOUBLE(krl_fma_odd((float)a, (float)b, (float)c)); }
KRL_FN KRL_T2 __hfma2(KRL_T2 a, KRL_T2 b, KRL_T2 c) { return {__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)}; }
KRL_FN KRL_T __hneg(KRL_T a) { return -a; }
KRL_FN KRL_T2 __hneg2(KRL_T2 a) { return -a; }
KRL_FN KRL_T __habs(KRL_T a) { return KRL_ROUND(fabsf((float)a)); }
KRL_FN KRL_T2 __habs2(KRL_T2 a) { return {__habs(a.x), __habs(a.y)}; }
KRL_FN bool __hisnan(KRL_T a) { return isnan((float)a); }
KRL_FN int __hisinf(KRL_T a) { return isinf((float)a) ? ((float)a > 0 ? 1 : -1) : 0; }

// Comparisons: an operator, a function, one that gives a pair of ones and zeros, one that asks for both.
#define KRL_COMPARE(op, name)                                                                          \
  KRL_FN bool operator op(const KRL_T& a, const KRL_T& b) { return (float)a op (float)b; }             \
  KRL_FN bool operator op(const KRL_T2& a, const KRL_T2& b) { return a.x op b.x && a.y op b.y; }       \
  KRL_FN bool __h##name(KRL_T a, KRL_T b) { return a op b; }                                           \
  KRL_FN bool __hb##name##2(KRL_T2 a, KRL_T2 b) { return a op b; }                                     \
  KRL_FN KRL_T2 __h##name##2(KRL_T2 a, KRL_T2 b) {                                                     \
    return {KRL_ROUND(a.x op b.x ? 1.0f : 0.0f), KRL_ROUND(a.y op b.y ? 1.0f : 0.0f)};                 \
  }
KRL_COMPARE(==, eq)
KRL_COMPARE(!=, ne)
KRL_COMPARE(<, lt)
KRL_COMPARE(<=, le)
KRL_COMPARE(>, gt)
KRL_COMPARE(>=, ge)
#undef KRL_COMPARE

#define KRL_MATH(name, function)                                                 \
  KRL_FN KRL_T h##name(KRL_T a) { return KRL_ROUND(function((float)a)); }        \
  KRL_FN KRL_T2 h2##name(KRL_T2 a) { return {h##name(a.x), h##name(a.y)}; }
KRL_MATH(exp, expf)
KRL_MATH(exp2, exp2f)
KRL_MATH(exp10, exp10f)
KRL_MATH(log, logf)
KRL_MATH(log2, log2f)
KRL_MATH(log10, log10f)
KRL_MATH(sqrt, sqrtf)
KRL_MATH(rsqrt, rsqrtf)
KRL_MATH(rcp, __frcp_rn)
KRL_MATH(sin, sinf)
KRL_MATH(cos, cosf)
KRL_MATH(tanh, tanhf)
KRL_MATH(floor, floorf)
KRL_MATH(ceil, ceilf)
KRL_MATH(rint, rintf)
KRL_MATH(trunc, truncf)
#undef KRL_MATH
