// The types of matrix elements, and the values of their bits.
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

namespace krl::machine {

enum class Element : std::uint8_t {
  kF16,
  kBF16,
  kTF32,  // the lower 13 of its 32 bits are ignored
  kE4M3,
  kE5M2,
  kS4,  // the lower half of a byte first
  kU4,
  kS8,
  kU8,
  kS32,
  kF32,
  kF64,
};

constexpr unsigned bits_of(Element element) {
  constexpr unsigned kBits[] = {16, 16, 32, 8, 8, 4, 4, 8, 8, 32, 32, 64};
  return kBits[static_cast<unsigned>(element)];
}
constexpr unsigned register_bytes(Element element) { return element == Element::kF64 ? 8 : 4; }
constexpr unsigned per_register(Element element) {
  return register_bytes(element) * 8 / bits_of(element);
}

// The type that holds all values of an element exactly, and in which their products are summed.
template <Element e>
using ValueOf = std::conditional_t<
    e == Element::kF64, double,
    std::conditional_t<e >= Element::kS4 && e <= Element::kS32, std::int32_t, float>>;

// Widens a number of `exponent` bits of exponent and `mantissa` bits of mantissa below its sign.
// The greatest exponent denotes infinities and NaN; in E4M3, which has no infinities, only all bits
// set are NaN.
template <unsigned exponent, unsigned mantissa>
float widened(std::uint32_t bits) {
  constexpr std::uint32_t kSign = 1u << (exponent + mantissa);
  constexpr std::uint32_t kSpecial = exponent == 4 ? kSign - 1 : kSign - (1u << mantissa);
  constexpr std::uint32_t kRebias = 128 - (1u << (exponent - 1));
  const std::uint32_t magnitude = bits & (kSign - 1), shifted = magnitude << (23 - mantissa);
  // A product, so that subnormal numbers become normal ones.
  const float finite = std::bit_cast<float>(shifted) * std::bit_cast<float>((127 + kRebias) << 23);
  const std::uint32_t value =
      magnitude >= kSpecial ? shifted | 0x7f800000 : std::bit_cast<std::uint32_t>(finite);
  return std::bit_cast<float>(value | (bits & kSign) << (31 - exponent - mantissa));
}

// Rounds to the nearest f16, ties to even.
inline std::uint16_t half_of(float value) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = bits >> 16 & 0x8000, magnitude = bits & 0x7fffffff;
  std::uint32_t half = (magnitude - 0x38000000 + 0xfff + (magnitude >> 13 & 1)) >> 13;
  if (magnitude < 0x38800000) {  // 2^-14: the last bit of the sum is worth 2^-24
    half = std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) + 0.5f) - 0x3f000000;
  } else if (magnitude > 0x7f800000) {
    half = 0x7fff;
  } else if (magnitude >= 0x47800000) {  // 2^16
    half = 0x7c00;
  }
  return static_cast<std::uint16_t>(sign | half);
}

// `bits`: the element in the lowest bits, anything above.
template <Element e>
ValueOf<e> value_of(std::uint32_t bits) {
  if constexpr (e == Element::kF16) return widened<5, 10>(bits);
  if constexpr (e == Element::kE5M2) return widened<5, 2>(bits);
  if constexpr (e == Element::kE4M3) return widened<4, 3>(bits);
  if constexpr (e == Element::kBF16) return std::bit_cast<float>(bits << 16);
  if constexpr (e == Element::kTF32) return std::bit_cast<float>(bits & 0xffffe000);
  if constexpr (e == Element::kF32) return std::bit_cast<float>(bits);
  if constexpr (e == Element::kS4) return static_cast<std::int32_t>(bits << 28) >> 28;
  if constexpr (e == Element::kU4) return static_cast<std::int32_t>(bits & 15);
  if constexpr (e == Element::kS8) return static_cast<std::int8_t>(bits);
  if constexpr (e == Element::kU8) return static_cast<std::uint8_t>(bits);
  if constexpr (e == Element::kS32) return static_cast<std::int32_t>(bits);
}

}  // namespace krl::machine
