// Values of a lane that C++ has no types for, and the PTX ISA's rules on floating-point results.
//
// All of it is arithmetic without branches, so that loops over lanes become vectors at every level
// of x86-64. Rounding is to nearest even unless noted.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace krl::machine {

struct Half {
  std::uint16_t bits;
};
struct BFloat {
  std::uint16_t bits;
};
// Two of them in a register of 32 bits.
template <class H>
struct Pair {
  H low, high;
};

// NaN results have no payload on NVIDIA's GPUs.
inline float canonical(float x) { return x != x ? std::bit_cast<float>(0x7fffffffu) : x; }
inline double canonical(double x) { return x; }

// .ftz: subnormals become zeros of the same sign.
inline float flushed(float x) {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  return std::bit_cast<float>((bits & 0x7f800000u) == 0 ? bits & 0x80000000u : bits);
}

// Applies .ftz to a rounded result: an exact value below the normal values becomes zero, even if it
// would be rounded to the least of them.
inline float flushed_if_tiny(double exact, float rounded) {
  const bool tiny = exact < 0x1p-126 && exact > -0x1p-126;
  const auto bits = std::bit_cast<std::uint32_t>(rounded);
  return std::bit_cast<float>(tiny ? bits & 0x80000000u : bits);
}

// .sat: into [0, 1]; NaN becomes +0.
template <class T>
inline T saturated(T x) {
  x = x > T{0} ? x : T{0};
  return x < T{1} ? x : T{1};
}

// .relu: negative values become +0; NaN stays.
template <class T>
inline T rectified(T x) {
  return x <= 0 ? T{0} : x;
}

inline float value_of(Half half) {
  // The exponent is moved by a multiplication, which makes subnormals right as well.
  const std::uint32_t magnitude = (half.bits & 0x7fffu) << 13;
  const float scaled = std::bit_cast<float>(magnitude) * 0x1p112f;
  const std::uint32_t special = (half.bits & 0x7c00u) == 0x7c00u ? 0x7f800000u : 0u;
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(scaled) | special |
                              (half.bits & 0x8000u) << 16);
}
inline float value_of(BFloat value) {
  return std::bit_cast<float>(std::uint32_t{value.bits} << 16);
}

template <class H>
H rounded_to(float x);

template <>
inline Half rounded_to<Half>(float x) {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  const std::uint32_t magnitude = bits & 0x7fffffffu;
  // Below 2^-14 the addition leaves the rounded multiple of 2^-24 in the low bits.
  const std::uint32_t subnormal =
      std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) + 0.5f) - 0x3f000000u;
  const std::uint32_t normal = (magnitude + 0xfffu + (magnitude >> 13 & 1u) - 0x38000000u) >> 13;
  std::uint32_t result = magnitude < 0x38800000u ? subnormal : normal;
  result = magnitude >= 0x477ff000u ? 0x7c00u : result;
  result |= bits >> 16 & 0x8000u;
  return {static_cast<std::uint16_t>(magnitude > 0x7f800000u ? 0x7fffu : result)};
}

template <>
inline BFloat rounded_to<BFloat>(float x) {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  const std::uint32_t result = (bits + 0x7fffu + (bits >> 16 & 1u)) >> 16;
  return {static_cast<std::uint16_t>((bits & 0x7fffffffu) > 0x7f800000u ? 0x7fffu : result)};
}

// Rounds to odd: rounding the result to any format that is two bits narrower rounds only once in
// effect.
inline float rounded_to_odd(double x) {
  const auto nearest = static_cast<float>(x);
  const auto bits = std::bit_cast<std::uint32_t>(nearest);
  const double back = nearest;
  const bool beyond = (back < 0 ? -back : back) > (x < 0 ? -x : x);
  const std::uint32_t odd = beyond ? bits - 1 : bits + 1;
  const bool exact = back == x || x != x || (bits & 1u) != 0;
  return std::bit_cast<float>(exact ? bits : odd);
}

template <class H>
inline H rounded_to(double x) {
  return rounded_to<H>(rounded_to_odd(x));
}

inline Half flushed(Half half) {
  return {static_cast<std::uint16_t>((half.bits & 0x7c00u) == 0 ? half.bits & 0x8000u : half.bits)};
}

// PTX orders -0 before +0. If one operand is a NaN, the result is the other, or NaN if `keeps_nan`.
template <bool keeps_nan, class T>
inline T lesser(T a, T b) {
  const bool first = a < b || (a == b && std::signbit(a)) || b != b;
  const T result = first ? a : b;
  return canonical(keeps_nan && a != a ? a : keeps_nan && b != b ? b : result);
}
template <bool keeps_nan, class T>
inline T greater(T a, T b) {
  const bool first = a > b || (a == b && !std::signbit(a)) || b != b;
  const T result = first ? a : b;
  return canonical(keeps_nan && a != a ? a : keeps_nan && b != b ? b : result);
}

}  // namespace krl::machine
