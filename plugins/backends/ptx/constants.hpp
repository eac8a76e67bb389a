// Numbers and constant expressions of PTX (ISA, "Constants"): 64-bit integers, signed unless
// written with U or too large, and floating-point numbers, which cannot be part of expressions.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "plugins/backends/ptx/tokens.hpp"

namespace krl::ptx {

struct Constant {
  enum Kind : std::uint8_t { kSigned, kUnsigned, kFloat32, kFloat64 };
  Kind kind = kSigned;
  std::uint64_t bits = 0;

  bool integer() const { return kind == kSigned || kind == kUnsigned; }
};

// None if it is not a number of PTX, or too large.
std::optional<Constant> number_of(std::string_view token);

// "3", "-0f3F800000", "(4 + WARP_SZ) * 2": as far as the expression goes.
Constant read_constant(Tokens& tokens);
// Integers from 0 to `most`; `what` is for messages. An expression, as the sizes of arrays are.
std::uint64_t read_size(Tokens& tokens, std::uint64_t most, std::string_view what);
// A number alone, as directives take it: "%r<10>" does not compare.
std::uint64_t read_count(Tokens& tokens, std::uint64_t most, std::string_view what);

}  // namespace krl::ptx
