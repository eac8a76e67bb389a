// Where an inlined function was called, from the module's DWARF description of its functions. Any
// thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "plugins/backends/elf/elf_view.hpp"

namespace krl::emulator {

// The line of the innermost call, written in one of `files` (numbers of the unit's file table),
// whose inlined body holds the instruction at `address`; 0 if there is none.
std::uint32_t line_of_inlined_call(const ElfView& elf, std::uint64_t address,
                                   const std::vector<std::size_t>& files);

}  // namespace krl::emulator
