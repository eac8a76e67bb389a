// Compares two rows: the result is a mask of the lanes for which a relation holds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "plugins/backends/cpu/machine/lanes.hpp"
#include "plugins/backends/ptx/module.hpp"

namespace krl::machine {

// A comparison of PTX.
struct Relation {
  std::uint8_t index = 0;  // for compare_rows
  bool swapped = false;    // the operands
  bool negated = false;    // the result
  bool pairs = false;      // compares the lower and the upper halves, each by itself
  ptx::Type type = ptx::Type::kNone;
};

// "ltu" of "f32", with or without ftz; nothing if there is no such comparison.
std::optional<Relation> find_relation(std::string_view name, std::string_view type, bool ftz);

// Returns the lanes for which the relation holds between the rows at `a` and `b`, before it is
// negated. For pairs, compares their lower halves, or their upper ones.
Mask compare_rows(std::uint8_t index, std::byte* frame, std::uint32_t a, std::uint32_t b);
Mask compare_upper(std::uint8_t index, std::byte* frame, std::uint32_t a, std::uint32_t b);

}  // namespace krl::machine
