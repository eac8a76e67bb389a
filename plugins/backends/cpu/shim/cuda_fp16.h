// half and half2: IEEE 754 binary16, every operation rounded to nearest even.
#pragma once

#include "krl/rounding.h"

struct __half_raw { unsigned short x; };
struct alignas(2) __half {
  unsigned short __x;
  __half() = default;
  KRL_INLINE __half(const __half_raw& raw) : __x(raw.x) {}
  KRL_INLINE __half(float value) : __x(krl_bits<unsigned short>((_Float16)value)) {}
  KRL_INLINE __half(double value) : __half(krl_to_float_odd(value)) {}
  KRL_INLINE __half(int value) : __half((double)value) {}
  KRL_INLINE __half(unsigned value) : __half((double)value) {}
  KRL_INLINE __half(short value) : __half((float)value) {}
  KRL_INLINE __half(unsigned short value) : __half((float)value) {}
  KRL_INLINE __half(long long value) : __half((double)value) {}
  KRL_INLINE __half(unsigned long long value) : __half((double)value) {}
  KRL_INLINE operator float() const { return (float)krl_bits<_Float16>(__x); }
  KRL_INLINE operator __half_raw() const { return {__x}; }
};
typedef __half half;
struct alignas(4) __half2 {
  __half x, y;
  __half2() = default;
  KRL_INLINE __half2(const __half& a, const __half& b) : x(a), y(b) {}
};
typedef __half2 half2;

#define KRL_T __half
#define KRL_T2 __half2
#define KRL_ROUND(value) __half((float)(value))
#define KRL_ROUND_DOUBLE(value) __half((double)(value))
#include "krl/narrow_float.h"
#undef KRL_T
#undef KRL_T2
#undef KRL_ROUND
#undef KRL_ROUND_DOUBLE

KRL_FN __half __float2half(float x) { return x; }
KRL_FN __half __float2half_rn(float x) { return x; }
KRL_FN __half __double2half(double x) { return x; }
KRL_FN float __half2float(__half x) { return x; }
KRL_FN __half2 __float2half2_rn(float x) { return {x, x}; }
KRL_FN __half2 __floats2half2_rn(float x, float y) { return {x, y}; }
KRL_FN __half2 __float22half2_rn(float2 v) { return {v.x, v.y}; }
KRL_FN float2 __half22float2(__half2 v) { return {v.x, v.y}; }
KRL_FN float __low2float(__half2 v) { return v.x; }
KRL_FN float __high2float(__half2 v) { return v.y; }
KRL_FN __half __low2half(__half2 v) { return v.x; }
KRL_FN __half __high2half(__half2 v) { return v.y; }
KRL_FN __half2 __halves2half2(__half x, __half y) { return {x, y}; }
KRL_FN __half2 __half2half2(__half x) { return {x, x}; }
KRL_FN __half2 make_half2(__half x, __half y) { return {x, y}; }
KRL_FN __half2 __low2half2(__half2 v) { return {v.x, v.x}; }
KRL_FN __half2 __high2half2(__half2 v) { return {v.y, v.y}; }
KRL_FN __half2 __lows2half2(__half2 a, __half2 b) { return {a.x, b.x}; }
KRL_FN __half2 __highs2half2(__half2 a, __half2 b) { return {a.y, b.y}; }
KRL_FN __half2 __lowhigh2highlow(__half2 v) { return {v.y, v.x}; }
KRL_FN unsigned short __half_as_ushort(__half x) { return x.__x; }
KRL_FN short __half_as_short(__half x) { return (short)x.__x; }
KRL_FN __half __ushort_as_half(unsigned short x) { return krl_bits<__half>(x); }
KRL_FN __half __short_as_half(short x) { return krl_bits<__half>(x); }
KRL_FN __half __int2half_rn(int x) { return x; }
KRL_FN __half __uint2half_rn(unsigned x) { return x; }
KRL_FN int __half2int_rn(__half x) { return __float2int_rn(x); }
KRL_FN int __half2int_rz(__half x) { return __float2int_rz(x); }
KRL_FN unsigned __half2uint_rn(__half x) { return __float2uint_rn(x); }

KRL_ATOMIC_TYPE(__half, KRL_HALF)
KRL_ATOMIC_TYPE(__half2, KRL_HALF2)
