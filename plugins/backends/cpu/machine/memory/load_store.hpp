// The operations of loads and stores.
//
// Instruction: a the row of addresses, extra[0] their bytes, immediate the offset, extra[1] the
// ptx::Space, extra[2] the Fence that it is; the rest is in the
// MemoryAccess.
#pragma once

#include <cstdint>

#include "plugins/backends/cpu/machine/program.hpp"

namespace krl::machine {

// Returns null if there is none. `bytes`: size of an element in memory; `is_signed`: it is widened
// with its sign.
Operation load_operation(std::uint32_t bytes, std::uint32_t register_bytes, bool is_signed);
Operation store_operation(std::uint32_t bytes);

}  // namespace krl::machine
