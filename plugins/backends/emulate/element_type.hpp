// The element types of buffers: their names in a call, in CUDA, in Triton and in .npy files, and their
// elements as numbers. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace krl::emulate {

struct ElementType {
  enum Kind : std::uint8_t { kFloat, kHalf, kBFloat16, kSigned, kUnsigned, kBool };

  std::string_view short_name, name;  // "f32", "float32"
  std::string_view cuda;              // as a directive names it in CUDA: "float"
  std::string_view npy;               // without the byte order: "f4"
  Kind kind;
  std::uint32_t bytes;
};

// Null if there is no such type.
const ElementType* find_type(std::string_view name);      // by either name
const ElementType* find_npy_type(std::string_view code);  // "f4"
std::string known_types();                                // "f32, f64, …"

// An element as a number; integers beyond 2^53 are rounded.
double number_of(const ElementType& type, const std::byte* element);
// Rounds to the type, to reals of 16 bits by way of float32, to integers toward zero and into the type's
// range; no number is 0 there.
void store(const ElementType& type, double number, std::byte* element);
// "0.5", "-3", "true": reals with as many digits as tell them from their neighbours.
std::string text_of(const ElementType& type, const std::byte* element);

}  // namespace krl::emulate
