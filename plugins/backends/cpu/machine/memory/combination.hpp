// The operations of atomics on elements of memory, for what combines many elements at once.
#pragma once

#include <cstddef>
#include <string>

#include "plugins/backends/ptx/module.hpp"

namespace krl::machine {

// Combines an element in memory with another.
using Combination = void (*)(std::byte* element, const std::byte* with);

// "add", "min", "and", "inc", … in global memory; null: there is none of this type.
Combination combination_of(const std::string& operation, ptx::Type type);

}  // namespace krl::machine
