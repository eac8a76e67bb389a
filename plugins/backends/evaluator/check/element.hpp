// Elements of tensors, by their type, as numbers: the conversions of half and bfloat16 that inputs
// and comparisons need. Pure functions.
#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <kernelrl/task_definition.hpp>

namespace krl::evaluator {

// Nearest, ties to even; too large becomes infinity.
inline std::uint16_t to_bfloat16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if (std::isnan(value)) return static_cast<std::uint16_t>((bits >> 16) | 0x40);
  return static_cast<std::uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}
inline float from_bfloat16(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

// Nearest, ties to even; subnormals kept; too large becomes infinity.
inline std::uint16_t to_float16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const auto sign = static_cast<std::uint16_t>((bits >> 16) & 0x8000);
  const float magnitude = std::fabs(value);
  if (std::isnan(value)) return static_cast<std::uint16_t>(sign | 0x7e00);
  if (magnitude >= 65520.0f) return static_cast<std::uint16_t>(sign | 0x7c00);
  if (magnitude < 6.103515625e-05f) {  // 2^-14: below are subnormals, multiples of 2^-24
    return static_cast<std::uint16_t>(sign | std::lrintf(magnitude * 16777216.0f));
  }
  const std::uint32_t rounded = (bits & 0x7fffffff) + 0xfff + ((bits >> 13) & 1);
  return static_cast<std::uint16_t>(sign | ((rounded - (112u << 23)) >> 13));
}
inline float from_float16(std::uint16_t bits) {
  const float sign = (bits & 0x8000) != 0 ? -1.0f : 1.0f;
  const int exponent = (bits >> 10) & 31, mantissa = bits & 1023;
  if (exponent == 0) return sign * std::ldexp(static_cast<float>(mantissa), -24);
  if (exponent == 31) return mantissa != 0 ? std::nanf("") : sign * INFINITY;
  return sign * std::ldexp(static_cast<float>(mantissa + 1024), exponent - 25);
}

template <class T>
T load_as(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

// An element of a floating type, exactly.
inline double load_real(DType type, const std::byte* at) {
  if (type == DType::kFloat32) return load_as<float>(at);
  const auto bits = load_as<std::uint16_t>(at);
  return type == DType::kFloat16 ? from_float16(bits) : from_bfloat16(bits);
}
// An element of an integer type; of a bool its byte, which is 0 or 1 if it is in order.
inline std::int64_t load_integer(DType type, const std::byte* at) {
  if (type == DType::kInt64) return load_as<std::int64_t>(at);
  if (type == DType::kInt32) return load_as<std::int32_t>(at);
  return load_as<std::uint8_t>(at);
}

// Rounds to the type, toward zero for integers.
inline void store_number(DType type, double value, std::byte* at) {
  const auto put = [at](auto element) { std::memcpy(at, &element, sizeof element); };
  switch (type) {
    case DType::kFloat32:
      return put(static_cast<float>(value));
    case DType::kFloat16:
      return put(to_float16(static_cast<float>(value)));
    case DType::kBFloat16:
      return put(to_bfloat16(static_cast<float>(value)));
    case DType::kInt32:
      return put(static_cast<std::int32_t>(value));
    case DType::kInt64:
      return put(static_cast<std::int64_t>(value));
    case DType::kBool:
      return put(static_cast<std::uint8_t>(value != 0));
  }
}

}  // namespace krl::evaluator
