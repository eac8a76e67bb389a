#include "plugins/backends/emulate/element_type.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "plugins/backends/evaluator/check/comparison.hpp"
#include "plugins/backends/evaluator/check/element.hpp"

namespace krl::emulate {
using namespace evaluator;
namespace {

constexpr ElementType kTypes[] = {
    {"f32", "float32", "float", "f4", ElementType::kFloat, 4},
    {"f64", "float64", "double", "f8", ElementType::kFloat, 8},
    {"f16", "float16", "half", "f2", ElementType::kHalf, 2},
    {"bf16", "bfloat16", "__nv_bfloat16", "V2", ElementType::kBFloat16, 2},
    {"i8", "int8", "signed char", "i1", ElementType::kSigned, 1},
    {"i16", "int16", "short", "i2", ElementType::kSigned, 2},
    {"i32", "int32", "int", "i4", ElementType::kSigned, 4},
    {"i64", "int64", "long long", "i8", ElementType::kSigned, 8},
    {"u8", "uint8", "unsigned char", "u1", ElementType::kUnsigned, 1},
    {"u16", "uint16", "unsigned short", "u2", ElementType::kUnsigned, 2},
    {"u32", "uint32", "unsigned int", "u4", ElementType::kUnsigned, 4},
    {"u64", "uint64", "unsigned long long", "u8", ElementType::kUnsigned, 8},
    {"bool", "bool", "bool", "b1", ElementType::kBool, 1},
};

template <class Predicate>
const ElementType* find(const Predicate& wanted) {
  const auto found = std::find_if(std::begin(kTypes), std::end(kTypes), wanted);
  return found == std::end(kTypes) ? nullptr : &*found;
}

std::uint64_t bits_of(const ElementType& type, const std::byte* element) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, element, type.bytes);  // little-endian, as GPUs are
  return bits;
}

std::int64_t signed_of(const ElementType& type, const std::byte* element) {
  const unsigned unused = 64 - 8 * type.bytes;
  return static_cast<std::int64_t>(bits_of(type, element) << unused) >> unused;
}

}  // namespace

const ElementType* find_type(std::string_view name) {
  return find([&](const ElementType& t) { return t.short_name == name || t.name == name; });
}

const ElementType* find_npy_type(std::string_view code) {
  return find([&](const ElementType& t) { return t.npy == code; });
}

std::string known_types() {
  std::string names;
  for (const ElementType& type : kTypes)
    names += (names.empty() ? "" : ", ") + std::string(type.short_name);
  return names;
}

double number_of(const ElementType& type, const std::byte* element) {
  switch (type.kind) {
    case ElementType::kFloat:
      return type.bytes == 8 ? load_as<double>(element) : load_as<float>(element);
    case ElementType::kHalf:
      return from_float16(load_as<std::uint16_t>(element));
    case ElementType::kBFloat16:
      return from_bfloat16(load_as<std::uint16_t>(element));
    case ElementType::kSigned:
      return static_cast<double>(signed_of(type, element));
    default:
      return static_cast<double>(bits_of(type, element));
  }
}

void store(const ElementType& type, double number, std::byte* element) {
  const auto put = [&](auto value) { std::memcpy(element, &value, type.bytes); };
  const int bits = static_cast<int>(8 * type.bytes);
  const bool is_real = type.kind <= ElementType::kBFloat16;
  if (!is_real && std::isnan(number)) number = 0;
  switch (type.kind) {
    case ElementType::kFloat:
      return type.bytes == 8 ? put(number) : put(static_cast<float>(number));
    case ElementType::kHalf:
      return put(to_float16(static_cast<float>(number)));
    case ElementType::kBFloat16:
      return put(to_bfloat16(static_cast<float>(number)));
    case ElementType::kSigned: {
      const double end = std::ldexp(1.0, bits - 1);
      if (number >= end) return put(std::numeric_limits<std::uint64_t>::max() >> (65 - bits));
      return put(number < -end ? std::int64_t{-1} << (bits - 1)
                               : static_cast<std::int64_t>(number));
    }
    case ElementType::kUnsigned:
      if (number >= std::ldexp(1.0, bits))
        return put(std::numeric_limits<std::uint64_t>::max() >> (64 - bits));
      return put(number > 0 ? static_cast<std::uint64_t>(number) : std::uint64_t{0});
    case ElementType::kBool:
      return put(static_cast<std::uint8_t>(number != 0));
  }
}

std::string text_of(const ElementType& type, const std::byte* element) {
  switch (type.kind) {
    case ElementType::kSigned:
      return std::to_string(signed_of(type, element));
    case ElementType::kUnsigned:
      return std::to_string(bits_of(type, element));
    case ElementType::kBool:
      return bits_of(type, element) != 0 ? "true" : "false";
    default:
      return number_text(number_of(type, element));
  }
}

}  // namespace krl::emulate
