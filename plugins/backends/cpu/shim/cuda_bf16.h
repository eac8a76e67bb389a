// __nv_bfloat16 and __nv_bfloat162: the upper half of a float, every operation rounded to nearest even.
#pragma once

#include "krl/rounding.h"

struct __nv_bfloat16_raw { unsigned short x; };
struct alignas(2) __nv_bfloat16 {
  unsigned short __x;
  __nv_bfloat16() = default;
  KRL_INLINE __nv_bfloat16(const __nv_bfloat16_raw& raw) : __x(raw.x) {}
  KRL_INLINE __nv_bfloat16(float value) {
    const unsigned bits = krl_bits<unsigned>(value);
    __x = value != value ? 0x7fff : (unsigned short)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
  }
  KRL_INLINE __nv_bfloat16(double value) : __nv_bfloat16(krl_to_float_odd(value)) {}
  KRL_INLINE __nv_bfloat16(int value) : __nv_bfloat16((double)value) {}
  KRL_INLINE __nv_bfloat16(unsigned value) : __nv_bfloat16((double)value) {}
  KRL_INLINE __nv_bfloat16(short value) : __nv_bfloat16((float)value) {}
  KRL_INLINE __nv_bfloat16(unsigned short value) : __nv_bfloat16((float)value) {}
  KRL_INLINE __nv_bfloat16(long long value) : __nv_bfloat16((double)value) {}
  KRL_INLINE __nv_bfloat16(unsigned long long value) : __nv_bfloat16((double)value) {}
  KRL_INLINE operator float() const { return krl_bits<float>((unsigned)__x << 16); }
  KRL_INLINE operator __nv_bfloat16_raw() const { return {__x}; }
};
typedef __nv_bfloat16 nv_bfloat16;
struct alignas(4) __nv_bfloat162 {
  __nv_bfloat16 x, y;
  __nv_bfloat162() = default;
  KRL_INLINE __nv_bfloat162(const __nv_bfloat16& a, const __nv_bfloat16& b) : x(a), y(b) {}
};
typedef __nv_bfloat162 nv_bfloat162;

#define KRL_T __nv_bfloat16
#define KRL_T2 __nv_bfloat162
#define KRL_ROUND(value) __nv_bfloat16((float)(value))
#define KRL_ROUND_DOUBLE(value) __nv_bfloat16((double)(value))
#include "krl/narrow_float.h"
#undef KRL_T
#undef KRL_T2
#undef KRL_ROUND
#undef KRL_ROUND_DOUBLE

KRL_FN __nv_bfloat16 __float2bfloat16(float x) { return x; }
KRL_FN __nv_bfloat16 __float2bfloat16_rn(float x) { return x; }
KRL_FN __nv_bfloat16 __double2bfloat16(double x) { return x; }
KRL_FN float __bfloat162float(__nv_bfloat16 x) { return x; }
KRL_FN __nv_bfloat162 __float2bfloat162_rn(float x) { return {x, x}; }
KRL_FN __nv_bfloat162 __floats2bfloat162_rn(float x, float y) { return {x, y}; }
KRL_FN __nv_bfloat162 __float22bfloat162_rn(float2 v) { return {v.x, v.y}; }
KRL_FN float2 __bfloat1622float2(__nv_bfloat162 v) { return {v.x, v.y}; }
KRL_FN float __low2float(__nv_bfloat162 v) { return v.x; }
KRL_FN float __high2float(__nv_bfloat162 v) { return v.y; }
KRL_FN __nv_bfloat16 __low2bfloat16(__nv_bfloat162 v) { return v.x; }
KRL_FN __nv_bfloat16 __high2bfloat16(__nv_bfloat162 v) { return v.y; }
KRL_FN __nv_bfloat162 __halves2bfloat162(__nv_bfloat16 x, __nv_bfloat16 y) { return {x, y}; }
KRL_FN __nv_bfloat162 __bfloat162bfloat162(__nv_bfloat16 x) { return {x, x}; }
KRL_FN __nv_bfloat162 make_bfloat162(__nv_bfloat16 x, __nv_bfloat16 y) { return {x, y}; }
KRL_FN unsigned short __bfloat16_as_ushort(__nv_bfloat16 x) { return x.__x; }
KRL_FN __nv_bfloat16 __ushort_as_bfloat16(unsigned short x) { return krl_bits<__nv_bfloat16>(x); }
KRL_FN __nv_bfloat16 __int2bfloat16_rn(int x) { return x; }
KRL_FN int __bfloat162int_rn(__nv_bfloat16 x) { return __float2int_rn(x); }
KRL_FN int __bfloat162int_rz(__nv_bfloat16 x) { return __float2int_rz(x); }

KRL_ATOMIC_TYPE(__nv_bfloat16, KRL_BFLOAT16)
KRL_ATOMIC_TYPE(__nv_bfloat162, KRL_BFLOAT162)
