// CUDA's keywords, vector types and built-in variables.
#pragma once

typedef signed char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef long int64_t;
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef unsigned long uint64_t;
typedef unsigned long size_t;
typedef long ptrdiff_t;
typedef long intptr_t;
typedef unsigned long uintptr_t;
typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;

#define __global__ __attribute__((noclone))
#define __device__
#define __host__
#define __constant__
#define __managed__
#define __grid_constant__
#define __forceinline__ inline __attribute__((always_inline))
#define __inline__ inline
#define __noinline__ __attribute__((noinline))
#define __align__(bytes) __attribute__((aligned(bytes)))
#define __restrict__ __restrict
#define __launch_bounds__(...)
#define __maxnreg__(...)
#define __builtin_assume(condition) ((void)0)
#define __CUDACC__ 1
#define __CUDA_ARCH__ 900
#define NULL 0

// Thread-local storage is per block here: the emulator answers __tls_get_addr. So `__shared__` may stand in front of
// arrays inside a function (static by rule) and behind `extern`, as in CUDA.
#define __shared__ thread_local

#define KRL_INLINE inline __attribute__((always_inline))

// `name`1 … `name`4 of element type `type`, with the alignment of the vectors of two and four in CUDA.
#define KRL_VECTOR(type, name, align2, align4)                                                                        \
  struct name##1 { type x; };                                                                                         \
  struct alignas(align2) name##2 { type x, y; };                                                                      \
  struct name##3 { type x, y, z; };                                                                                   \
  struct alignas(align4) name##4 { type x, y, z, w; };                                                                \
  static KRL_INLINE name##1 make_##name##1(type x) { return {x}; }                                                    \
  static KRL_INLINE name##2 make_##name##2(type x, type y) { return {x, y}; }                                         \
  static KRL_INLINE name##3 make_##name##3(type x, type y, type z) { return {x, y, z}; }                              \
  static KRL_INLINE name##4 make_##name##4(type x, type y, type z, type w) { return {x, y, z, w}; }
KRL_VECTOR(signed char, char, 2, 4)
KRL_VECTOR(unsigned char, uchar, 2, 4)
KRL_VECTOR(short, short, 4, 8)
KRL_VECTOR(unsigned short, ushort, 4, 8)
KRL_VECTOR(int, int, 8, 16)
KRL_VECTOR(unsigned, uint, 8, 16)
KRL_VECTOR(long, long, 16, 16)
KRL_VECTOR(unsigned long, ulong, 16, 16)
KRL_VECTOR(long long, longlong, 16, 16)
KRL_VECTOR(unsigned long long, ulonglong, 16, 16)
KRL_VECTOR(float, float, 8, 16)
KRL_VECTOR(double, double, 16, 16)
#undef KRL_VECTOR

struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
  constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
  constexpr operator uint3() const { return {x, y, z}; }
};

// Set by the emulator before a thread runs. To the compiler they are constants, so reading them is no memory access.
extern "C" {
extern const uint3 threadIdx, blockIdx, blockDim, gridDim;
extern const unsigned krl_lane;
}
static constexpr int warpSize = 32;

// The type of a parameter that must not take part in the deduction of T.
template <class T>
struct krl_identity { typedef T type; };
template <class T>
using krl_same = typename krl_identity<T>::type;

template <class To, class From>
static KRL_INLINE To krl_bits(From from) {
  static_assert(sizeof(To) == sizeof(From), "a bit pattern keeps its size");
  return __builtin_bit_cast(To, from);
}
// A value in the low bytes of a word, and back: how values travel through the hooks.
template <class T>
static KRL_INLINE unsigned long long krl_word(T value) {
  if constexpr (sizeof(T) == 8) return __builtin_bit_cast(unsigned long long, value);
  else if constexpr (sizeof(T) == 4) return __builtin_bit_cast(unsigned, value);
  else if constexpr (sizeof(T) == 2) return __builtin_bit_cast(unsigned short, value);
  else return __builtin_bit_cast(unsigned char, value);
}
template <class T>
static KRL_INLINE T krl_value(unsigned long long word) {
  if constexpr (sizeof(T) == 8) return __builtin_bit_cast(T, word);
  else if constexpr (sizeof(T) == 4) return __builtin_bit_cast(T, (unsigned)word);
  else if constexpr (sizeof(T) == 2) return __builtin_bit_cast(T, (unsigned short)word);
  else return __builtin_bit_cast(T, (unsigned char)word);
}
