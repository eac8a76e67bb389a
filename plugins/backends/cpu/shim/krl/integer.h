// Integer intrinsics, bit casts and conversions of CUDA.
#pragma once

#define KRL_FN static KRL_INLINE

KRL_FN int __popc(unsigned x) { return __builtin_popcount(x); }
KRL_FN int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
KRL_FN int __clz(int x) { return x ? __builtin_clz((unsigned)x) : 32; }
KRL_FN int __clzll(long long x) { return x ? __builtin_clzll((unsigned long long)x) : 64; }
KRL_FN int __ffs(int x) { return __builtin_ffs(x); }
KRL_FN int __ffsll(long long x) { return __builtin_ffsll(x); }
KRL_FN unsigned __brev(unsigned x) {
  x = (x >> 1 & 0x55555555u) | (x & 0x55555555u) << 1;
  x = (x >> 2 & 0x33333333u) | (x & 0x33333333u) << 2;
  x = (x >> 4 & 0x0f0f0f0fu) | (x & 0x0f0f0f0fu) << 4;
  return __builtin_bswap32(x);
}
KRL_FN unsigned long long __brevll(unsigned long long x) {
  return (unsigned long long)__brev((unsigned)x) << 32 | __brev((unsigned)(x >> 32));
}
// Selector nibble: which of the 8 bytes of y:x, or with its high bit set the sign of that byte, eight times.
KRL_FN unsigned __byte_perm(unsigned x, unsigned y, unsigned selectors) {
  const unsigned long long bytes = (unsigned long long)y << 32 | x;
  unsigned result = 0;
  for (int i = 0; i < 4; ++i) {
    const unsigned selector = selectors >> (4 * i) & 15;
    const unsigned char byte = (unsigned char)(bytes >> (8 * (selector & 7)));
    result |= (selector & 8 ? (byte & 0x80 ? 0xffu : 0u) : byte) << (8 * i);
  }
  return result;
}

KRL_FN int __mulhi(int x, int y) { return (int)((long long)x * y >> 32); }
KRL_FN unsigned __umulhi(unsigned x, unsigned y) { return (unsigned)((unsigned long long)x * y >> 32); }
KRL_FN long long __mul64hi(long long x, long long y) { return (long long)((__int128)x * y >> 64); }
KRL_FN unsigned long long __umul64hi(unsigned long long x, unsigned long long y) {
  return (unsigned long long)((unsigned __int128)x * y >> 64);
}
KRL_FN int __mul24(int x, int y) { return (int)((long long)(x << 8 >> 8) * (y << 8 >> 8)); }
KRL_FN unsigned __umul24(unsigned x, unsigned y) { return (x & 0xffffff) * (y & 0xffffff); }
KRL_FN unsigned __sad(int x, int y, unsigned z) {
  return z + (x > y ? (unsigned)x - (unsigned)y : (unsigned)y - (unsigned)x);
}
KRL_FN unsigned __usad(unsigned x, unsigned y, unsigned z) { return z + (x > y ? x - y : y - x); }
KRL_FN int __hadd(int x, int y) { return (int)(((long long)x + y) >> 1); }
KRL_FN int __rhadd(int x, int y) { return (int)(((long long)x + y + 1) >> 1); }
KRL_FN unsigned __uhadd(unsigned x, unsigned y) { return (unsigned)(((unsigned long long)x + y) >> 1); }
KRL_FN unsigned __urhadd(unsigned x, unsigned y) { return (unsigned)(((unsigned long long)x + y + 1) >> 1); }
KRL_FN unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift) {
  return (unsigned)(((unsigned long long)high << 32 | low) << (shift & 31) >> 32);
}
KRL_FN unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift) {
  return (unsigned)(((unsigned long long)high << 32 | low) >> (shift & 31));
}
KRL_FN unsigned __funnelshift_lc(unsigned low, unsigned high, unsigned shift) {
  return shift >= 32 ? low : __funnelshift_l(low, high, shift);
}
KRL_FN unsigned __funnelshift_rc(unsigned low, unsigned high, unsigned shift) {
  return shift >= 32 ? high : __funnelshift_r(low, high, shift);
}
KRL_FN int __dp4a(int a, int b, int c) {
  for (int i = 0; i < 32; i += 8) c += (signed char)(a >> i) * (signed char)(b >> i);
  return c;
}
KRL_FN unsigned __dp4a(unsigned a, unsigned b, unsigned c) {
  for (int i = 0; i < 32; i += 8) c += (a >> i & 255) * (b >> i & 255);
  return c;
}
KRL_FN int __dp2a_lo(int a, int b, int c) { return c + (short)a * (signed char)b + (a >> 16) * (signed char)(b >> 8); }
KRL_FN int __dp2a_hi(int a, int b, int c) { return __dp2a_lo(a, b >> 16, c); }

// The lanes of a word, four bytes or two halves, as the SIMD-in-a-word intrinsics see them.
#define KRL_LANES(name, type, bits, expression)                          \
  KRL_FN unsigned name(unsigned a, unsigned b) {                         \
    unsigned result = 0;                                                 \
    for (int i = 0; i < 32; i += bits) {                                 \
      const int x = (type)(a >> i), y = (type)(b >> i);                  \
      result |= ((unsigned)(expression) & ((1u << bits) - 1)) << i;      \
    }                                                                    \
    return result;                                                       \
  }
KRL_LANES(__vadd4, signed char, 8, x + y)
KRL_LANES(__vsub4, signed char, 8, x - y)
KRL_LANES(__vmaxs4, signed char, 8, x > y ? x : y)
KRL_LANES(__vmins4, signed char, 8, x < y ? x : y)
KRL_LANES(__vmaxu4, unsigned char, 8, x > y ? x : y)
KRL_LANES(__vminu4, unsigned char, 8, x < y ? x : y)
KRL_LANES(__vabsdiffu4, unsigned char, 8, x > y ? x - y : y - x)
KRL_LANES(__vcmpeq4, unsigned char, 8, x == y ? 255 : 0)
KRL_LANES(__vadd2, short, 16, x + y)
KRL_LANES(__vsub2, short, 16, x - y)
KRL_LANES(__vmaxs2, short, 16, x > y ? x : y)
KRL_LANES(__vmins2, short, 16, x < y ? x : y)
#undef KRL_LANES

// min and max in every mix that CUDA has; a mix of signed and unsigned compares as unsigned.
#define KRL_MIN_MAX(result, a, b)                                           \
  KRL_FN result min(a x, b y) { return (result)x < (result)y ? x : y; }     \
  KRL_FN result max(a x, b y) { return (result)x > (result)y ? x : y; }
KRL_MIN_MAX(int, int, int)
KRL_MIN_MAX(unsigned, unsigned, unsigned)
KRL_MIN_MAX(unsigned, int, unsigned)
KRL_MIN_MAX(unsigned, unsigned, int)
KRL_MIN_MAX(long, long, long)
KRL_MIN_MAX(unsigned long, unsigned long, unsigned long)
KRL_MIN_MAX(unsigned long, long, unsigned long)
KRL_MIN_MAX(unsigned long, unsigned long, long)
KRL_MIN_MAX(long long, long long, long long)
KRL_MIN_MAX(unsigned long long, unsigned long long, unsigned long long)
KRL_MIN_MAX(unsigned long long, long long, unsigned long long)
KRL_MIN_MAX(unsigned long long, unsigned long long, long long)
#undef KRL_MIN_MAX
KRL_FN unsigned umin(unsigned x, unsigned y) { return min(x, y); }
KRL_FN unsigned umax(unsigned x, unsigned y) { return max(x, y); }
KRL_FN long long llmin(long long x, long long y) { return min(x, y); }
KRL_FN long long llmax(long long x, long long y) { return max(x, y); }
KRL_FN int abs(int x) { return x < 0 ? -x : x; }
KRL_FN long abs(long x) { return x < 0 ? -x : x; }
KRL_FN long long abs(long long x) { return x < 0 ? -x : x; }
KRL_FN long labs(long x) { return abs(x); }
KRL_FN long long llabs(long long x) { return abs(x); }

KRL_FN int __float_as_int(float x) { return krl_bits<int>(x); }
KRL_FN unsigned __float_as_uint(float x) { return krl_bits<unsigned>(x); }
KRL_FN float __int_as_float(int x) { return krl_bits<float>(x); }
KRL_FN float __uint_as_float(unsigned x) { return krl_bits<float>(x); }
KRL_FN long long __double_as_longlong(double x) { return krl_bits<long long>(x); }
KRL_FN double __longlong_as_double(long long x) { return krl_bits<double>(x); }
KRL_FN int __double2hiint(double x) { return (int)(__double_as_longlong(x) >> 32); }
KRL_FN int __double2loint(double x) { return (int)__double_as_longlong(x); }
KRL_FN double __hiloint2double(int high, int low) {
  return __longlong_as_double((long long)((unsigned long long)(unsigned)high << 32 | (unsigned)low));
}
