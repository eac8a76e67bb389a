// The little of namespace std that kernels use.
#pragma once

#include "krl/float_limits.h"
#include "krl/integer_limits.h"

namespace std {
using ::size_t;
using ::ptrdiff_t;
using ::int8_t; using ::int16_t; using ::int32_t; using ::int64_t;
using ::uint8_t; using ::uint16_t; using ::uint32_t; using ::uint64_t;
using ::uintptr_t; using ::intptr_t;
using ::abs; using ::fabs; using ::sqrt; using ::cbrt; using ::exp; using ::exp2; using ::expm1; using ::log; using ::log2;
using ::log10; using ::log1p; using ::pow; using ::sin; using ::cos; using ::tan; using ::asin; using ::acos; using ::atan;
using ::atan2; using ::sinh; using ::cosh; using ::tanh; using ::erf; using ::erfc; using ::floor; using ::ceil;
using ::trunc; using ::round; using ::rint; using ::fmin; using ::fmax; using ::fmod; using ::fma; using ::hypot;
using ::isnan; using ::isinf; using ::isfinite; using ::copysign; using ::tgamma; using ::lgamma;

template <class T>
KRL_INLINE constexpr const T& min(const T& a, const T& b) { return b < a ? b : a; }
template <class T>
KRL_INLINE constexpr const T& max(const T& a, const T& b) { return a < b ? b : a; }
template <class T>
KRL_INLINE void swap(T& a, T& b) { T c = a; a = b; b = c; }

template <class T>
struct numeric_limits;
#define KRL_LIMITS(type, low, least, greatest)                                      \
  template <>                                                                       \
  struct numeric_limits<type> {                                                     \
    static constexpr type min() { return least; }                                   \
    static constexpr type lowest() { return low; }                                  \
    static constexpr type max() { return greatest; }                                \
    static constexpr type infinity() { return (type)__builtin_inf(); }              \
    static constexpr type quiet_NaN() { return (type)__builtin_nan(""); }           \
    static constexpr type epsilon() { return sizeof(type) == 4 ? (type)FLT_EPSILON : (type)DBL_EPSILON; } \
  };
#define KRL_INTEGER_LIMITS(type, least, greatest)        \
  template <>                                            \
  struct numeric_limits<type> {                          \
    static constexpr type min() { return least; }        \
    static constexpr type lowest() { return least; }     \
    static constexpr type max() { return greatest; }     \
  };
KRL_LIMITS(float, -FLT_MAX, FLT_MIN, FLT_MAX)
KRL_LIMITS(double, -DBL_MAX, DBL_MIN, DBL_MAX)
KRL_INTEGER_LIMITS(int, INT_MIN, INT_MAX)
KRL_INTEGER_LIMITS(unsigned, 0, UINT_MAX)
KRL_INTEGER_LIMITS(long, LONG_MIN, LONG_MAX)
KRL_INTEGER_LIMITS(unsigned long, 0, ULONG_MAX)
KRL_INTEGER_LIMITS(long long, LLONG_MIN, LLONG_MAX)
KRL_INTEGER_LIMITS(unsigned long long, 0, ULLONG_MAX)
KRL_INTEGER_LIMITS(short, SHRT_MIN, SHRT_MAX)
KRL_INTEGER_LIMITS(unsigned short, 0, USHRT_MAX)
KRL_INTEGER_LIMITS(signed char, SCHAR_MIN, SCHAR_MAX)
KRL_INTEGER_LIMITS(unsigned char, 0, UCHAR_MAX)
#undef KRL_LIMITS
#undef KRL_INTEGER_LIMITS

template <class T, T v>
struct integral_constant { static constexpr T value = v; constexpr operator T() const { return v; } };
using true_type = integral_constant<bool, true>;
using false_type = integral_constant<bool, false>;
template <class A, class B>
struct is_same : false_type {};
template <class A>
struct is_same<A, A> : true_type {};
template <class A, class B>
inline constexpr bool is_same_v = is_same<A, B>::value;
template <bool condition, class A, class B>
struct conditional { using type = A; };
template <class A, class B>
struct conditional<false, A, B> { using type = B; };
template <bool condition, class A, class B>
using conditional_t = typename conditional<condition, A, B>::type;
template <bool condition, class T = void>
struct enable_if {};
template <class T>
struct enable_if<true, T> { using type = T; };
template <bool condition, class T = void>
using enable_if_t = typename enable_if<condition, T>::type;
}  // namespace std
