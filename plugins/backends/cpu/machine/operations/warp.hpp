// The kinds of warp operations that counters distinguish within the class kWarp.
#pragma once

#include "plugins/backends/cpu/machine/program.hpp"

namespace krl::machine {

// kVote: matches, reductions, elections and activemask too.
enum class WarpOperation : std::uint8_t { kShuffle, kVote, kBarrier };
WarpOperation operation_of(const Instruction& instruction);

}  // namespace krl::machine
