// Element types: kernelrl's shim of torch, which torch/extension.h includes as a whole. Names and
// their meanings are torch's; missing parts are missing on purpose or not needed yet.
#pragma once

#include <cstdint>

// Defined where the source names none of them: their headers take a second to compile.
#ifndef KERNELRL_NO_HALF
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#else
struct __half;
struct __nv_bfloat16;
#endif

namespace c10 {

#ifdef KERNELRL_NO_HALF
struct Half;
struct BFloat16;
#else

// Two bytes each, laid out as CUDA's own types, to which they convert.
struct alignas(2) Half {
  unsigned short x = 0;

  Half() = default;
  __host__ __device__ Half(float value) : x(__half_as_ushort(__float2half(value))) {}
  __host__ __device__ Half(__half value) : x(__half_as_ushort(value)) {}
  __host__ __device__ operator float() const { return __half2float(__ushort_as_half(x)); }
  __host__ __device__ explicit operator __half() const { return __ushort_as_half(x); }
};

struct alignas(2) BFloat16 {
  unsigned short x = 0;

  BFloat16() = default;
  __host__ __device__ BFloat16(float value) : x(__bfloat16_as_ushort(__float2bfloat16(value))) {}
  __host__ __device__ BFloat16(__nv_bfloat16 value) : x(__bfloat16_as_ushort(value)) {}
  __host__ __device__ operator float() const { return __bfloat162float(__ushort_as_bfloat16(x)); }
  __host__ __device__ explicit operator __nv_bfloat16() const { return __ushort_as_bfloat16(x); }
};

#define KERNELRL_ARITHMETIC(T)                                                        \
  __host__ __device__ inline T operator+(T a, T b) { return T(float(a) + float(b)); } \
  __host__ __device__ inline T operator-(T a, T b) { return T(float(a) - float(b)); } \
  __host__ __device__ inline T operator*(T a, T b) { return T(float(a) * float(b)); } \
  __host__ __device__ inline T operator/(T a, T b) { return T(float(a) / float(b)); } \
  __host__ __device__ inline T operator-(T a) { return T(-float(a)); }                \
  __host__ __device__ inline T& operator+=(T& a, T b) { return a = a + b; }           \
  __host__ __device__ inline T& operator-=(T& a, T b) { return a = a - b; }           \
  __host__ __device__ inline T& operator*=(T& a, T b) { return a = a * b; }           \
  __host__ __device__ inline T& operator/=(T& a, T b) { return a = a / b; }           \
  __host__ __device__ inline float operator+(T a, float b) { return float(a) + b; }   \
  __host__ __device__ inline float operator-(T a, float b) { return float(a) - b; }   \
  __host__ __device__ inline float operator*(T a, float b) { return float(a) * b; }   \
  __host__ __device__ inline float operator/(T a, float b) { return float(a) / b; }   \
  __host__ __device__ inline float operator+(float a, T b) { return a + float(b); }   \
  __host__ __device__ inline float operator-(float a, T b) { return a - float(b); }   \
  __host__ __device__ inline float operator*(float a, T b) { return a * float(b); }   \
  __host__ __device__ inline float operator/(float a, T b) { return a / float(b); }   \
  __host__ __device__ inline T operator*(T a, int b) { return a * T(float(b)); }      \
  __host__ __device__ inline T operator+(T a, int b) { return a + T(float(b)); }      \
  __host__ __device__ inline T operator-(T a, int b) { return a - T(float(b)); }      \
  __host__ __device__ inline T operator/(T a, int b) { return a / T(float(b)); }
KERNELRL_ARITHMETIC(Half)
KERNELRL_ARITHMETIC(BFloat16)
#undef KERNELRL_ARITHMETIC
#endif

// The first six in the order of kernelrl's types, by which the harness passes them.
enum class ScalarType : std::int8_t {
  Float,
  Half,
  BFloat16,
  Int,
  Long,
  Bool,
  Double,
  Byte,
  Char,
  Short
};

inline const char* toString(ScalarType type) {
  constexpr const char* kNames[] = {"Float", "Half",   "BFloat16", "Int",  "Long",
                                    "Bool",  "Double", "Byte",     "Char", "Short"};
  return kNames[static_cast<int>(type)];
}

inline std::int64_t elementSize(ScalarType type) {
  constexpr std::int64_t kBytes[] = {4, 2, 2, 4, 8, 1, 8, 1, 1, 2};
  return kBytes[static_cast<int>(type)];
}

template <class T>
struct CppTypeToScalarType;
#define KERNELRL_TYPE(Type, name)                         \
  template <>                                             \
  struct CppTypeToScalarType<Type> {                      \
    static constexpr ScalarType value = ScalarType::name; \
  };
KERNELRL_TYPE(float, Float)
KERNELRL_TYPE(Half, Half)
KERNELRL_TYPE(__half, Half)
KERNELRL_TYPE(BFloat16, BFloat16)
KERNELRL_TYPE(__nv_bfloat16, BFloat16)
KERNELRL_TYPE(int, Int)
KERNELRL_TYPE(long, Long)
KERNELRL_TYPE(long long, Long)
KERNELRL_TYPE(bool, Bool)
KERNELRL_TYPE(double, Double)
KERNELRL_TYPE(unsigned char, Byte)
KERNELRL_TYPE(signed char, Char)
KERNELRL_TYPE(short, Short)
#undef KERNELRL_TYPE

inline constexpr ScalarType kFloat = ScalarType::Float, kFloat32 = ScalarType::Float;
inline constexpr ScalarType kHalf = ScalarType::Half, kFloat16 = ScalarType::Half;
inline constexpr ScalarType kBFloat16 = ScalarType::BFloat16;
inline constexpr ScalarType kInt = ScalarType::Int, kInt32 = ScalarType::Int;
inline constexpr ScalarType kLong = ScalarType::Long, kInt64 = ScalarType::Long;
inline constexpr ScalarType kBool = ScalarType::Bool;
inline constexpr ScalarType kDouble = ScalarType::Double, kFloat64 = ScalarType::Double;
inline constexpr ScalarType kByte = ScalarType::Byte, kUInt8 = ScalarType::Byte;
inline constexpr ScalarType kChar = ScalarType::Char, kInt8 = ScalarType::Char;
inline constexpr ScalarType kShort = ScalarType::Short, kInt16 = ScalarType::Short;

}  // namespace c10
