// Floating-point formats of fewer bits than f64, and rounding to them in any direction.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

namespace krl::machine {

enum class Direction : std::uint8_t { kNearest, kNearestAway, kToZero, kDown, kUp };

struct Format {
  int mantissa_bits;
  int least_exponent;      // least exponent of normal values
  std::uint32_t infinity;  // the encoding of infinity; of e4m3: above the largest value
  std::uint32_t nan;       // the canonical one
  bool finite;             // values out of range become the largest
};
inline constexpr Format kF16Format{10, -14, 0x7c00, 0x7fff, false};
inline constexpr Format kBF16Format{7, -126, 0x7f80, 0x7fff, false};
// The low 13 bits are missing.
inline constexpr Format kTF32Format{10, -126, 0x3fc00, 0x3ffff, false};
inline constexpr Format kE4M3Format{3, -6, 0x7f, 0x7f, true};
inline constexpr Format kE5M2Format{2, -14, 0x7c, 0x7f, true};

inline bool rounds_up(Direction direction, bool negative, bool odd, std::uint64_t rest,
                      std::uint64_t half) {
  switch (direction) {
    case Direction::kNearest:
      return rest > half || (rest == half && odd);
    case Direction::kNearestAway:
      return rest >= half;
    case Direction::kToZero:
      return false;
    case Direction::kDown:
      return negative && rest != 0;
    case Direction::kUp:
      break;
  }
  return !negative && rest != 0;
}

// The encoding of x without its sign.
inline std::uint32_t magnitude_in(const Format& format, double x, Direction direction) {
  const auto bits = std::bit_cast<std::uint64_t>(x);
  const bool negative = bits >> 63 != 0;
  const int field = static_cast<int>(bits >> 52 & 0x7ff);
  const std::uint64_t fraction = bits & 0xfffffffffffffu;
  if (field == 0x7ff) {
    if (fraction != 0) return format.nan;
    return format.finite ? format.infinity - 1 : format.infinity;
  }
  const std::uint64_t significand = field == 0 ? fraction : fraction | std::uint64_t{1} << 52;
  const int exponent = std::max(field, 1) - 1023;
  const int below = std::max(format.least_exponent - exponent, 0);
  const int dropped = std::min(52 - format.mantissa_bits + below, 62);
  const std::uint64_t kept = significand >> dropped;
  const std::uint64_t rest = significand & ((std::uint64_t{1} << dropped) - 1);
  const bool up =
      rounds_up(direction, negative, (kept & 1) != 0, rest, std::uint64_t{1} << (dropped - 1));
  // The leading one of a normal value adds one to the exponent's field, as a carry does.
  const int steps = std::max(exponent - format.least_exponent, 0);
  const std::uint64_t encoded =
      (static_cast<std::uint64_t>(steps) << format.mantissa_bits) + kept + (up ? 1 : 0);
  if (encoded < format.infinity) return static_cast<std::uint32_t>(encoded);
  const bool stays = format.finite || direction == Direction::kToZero ||
                     direction == (negative ? Direction::kUp : Direction::kDown);
  return stays ? format.infinity - 1 : format.infinity;
}

// `sign_bit`: where the sign goes; NaN has none.
inline std::uint32_t encoded_in(const Format& format, double x, Direction direction,
                                unsigned sign_bit) {
  const std::uint32_t magnitude = magnitude_in(format, x, direction);
  const auto sign = static_cast<std::uint32_t>(std::bit_cast<std::uint64_t>(x) >> 63);
  return x != x ? magnitude : magnitude | sign << sign_bit;
}

// The value of eight bits in a format of one sign bit.
inline double decoded_from(const Format& format, std::uint8_t bits) {
  const std::uint32_t magnitude = bits & 0x7fu;
  const std::uint32_t exponent = magnitude >> format.mantissa_bits;
  const std::uint32_t fraction = magnitude & ((1u << format.mantissa_bits) - 1);
  const std::uint32_t significand =
      exponent == 0 ? fraction : fraction | 1u << format.mantissa_bits;
  const int scale =
      format.least_exponent - format.mantissa_bits + static_cast<int>(std::max(exponent, 1u)) - 1;
  double value =
      significand * std::bit_cast<double>(static_cast<std::uint64_t>(scale + 1023) << 52);
  if (magnitude >= format.infinity) value = magnitude == 0x7c ? 1.0 / 0.0 : 0.0 / 0.0;
  return (bits & 0x80) != 0 ? -value : value;
}

}  // namespace krl::machine
