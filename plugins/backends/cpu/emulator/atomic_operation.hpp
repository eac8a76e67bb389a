// The arithmetic of atomic operations: what CUDA's atomicAdd and its kin leave in memory. Pure. Any
// thread.
#pragma once

#include <cstdint>

#include "plugins/backends/cpu/shim/krl/hooks.h"

namespace krl::emulator {

// Bytes of a value of `type` (krl_atomic_type); 0 if there is no such type.
std::uint32_t atomic_size(unsigned type);

// The new content of a cell that holds `old`; values lie in the low bytes.
std::uint64_t atomic_result(unsigned operation, unsigned type, std::uint64_t old,
                            std::uint64_t value, std::uint64_t compare);

}  // namespace krl::emulator
