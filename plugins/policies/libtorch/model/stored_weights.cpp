#include "plugins/policies/libtorch/model/stored_weights.hpp"

#include <cstring>

namespace krl::libtorch {
namespace {

float from_bits(std::uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

float from_bfloat16(std::uint16_t bits) { return from_bits(std::uint32_t{bits} << 16); }

// IEEE 754 binary16.
float from_float16(std::uint16_t bits) {
  const std::uint32_t sign = std::uint32_t{bits} >> 15 << 31;
  const std::uint32_t exponent = bits >> 10 & 31, fraction = bits & 1023;
  constexpr std::uint32_t kBias = 127 - 15;
  if (exponent == 31) return from_bits(sign | 0x7f800000u | fraction << 13);
  if (exponent > 0) return from_bits(sign | (exponent + kBias) << 23 | fraction << 13);
  const float value = static_cast<float>(fraction) * 0x1p-24f;  // subnormal
  return sign != 0 ? -value : value;
}

template <class Convert>
void convert_halves(std::string_view bytes, Convert convert, float* to) {
  for (std::size_t i = 0; i + 1 < bytes.size(); i += 2) {
    std::uint16_t bits;
    std::memcpy(&bits, bytes.data() + i, sizeof bits);
    *to++ = convert(bits);
  }
}

}  // namespace

StoredWeights::StoredWeights(std::span<const float> weights)
    : pieces_{{0,
               static_cast<std::int64_t>(weights.size()),
               StoredType::kFloat32,
               {reinterpret_cast<const char*>(weights.data()), weights.size_bytes()}}} {}

std::vector<float> StoredWeights::floats() const {
  std::int64_t total = 0;
  for (const StoredPiece& piece : pieces_) total += piece.size;
  std::vector<float> all(static_cast<std::size_t>(total));
  for (const StoredPiece& piece : pieces_) {
    float* to = all.data() + piece.offset;
    switch (piece.type) {
      case StoredType::kFloat32:
        if (!piece.bytes.empty()) std::memcpy(to, piece.bytes.data(), piece.bytes.size());
        break;
      case StoredType::kBFloat16:
        convert_halves(piece.bytes, from_bfloat16, to);
        break;
      case StoredType::kFloat16:
        convert_halves(piece.bytes, from_float16, to);
        break;
    }
  }
  return all;
}

}  // namespace krl::libtorch
