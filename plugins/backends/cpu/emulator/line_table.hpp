// Which line of the candidate an instruction belongs to, from the module's DWARF line table (-g1).
// Read only after a fault, so it decodes the table anew for every question. Any thread.
#pragma once

#include <cstdint>
#include <string_view>

#include "plugins/backends/elf/elf_view.hpp"

namespace krl::emulator {

// The line in `file` (as #line named it) of the instruction at `address` (an offset in the module),
// or 0 if unknown. An instruction that was inlined from another file, a function of the shim,
// counts as part of the line with the call.
std::uint32_t line_at(const ElfView& elf, std::uint64_t address, std::string_view file);

}  // namespace krl::emulator
