// Tracks how a function uses clocks. A clock may determine how long a thread waits, as in the
// backoff of cuda::barrier; it must not become data, with which a kernel could distinguish
// launches. Values are followed from register to register. Branches can still turn a clock into
// data bit by bit, so nothing relies on this check: every launch that counts is compared.
#pragma once

#include <vector>

#include "plugins/backends/ptx/module.hpp"

namespace krl::ptx {

// "%clock64", "%globaltimer_lo", …
bool is_clock(const Operand& operand);

// The instructions that make something else of a clock's value than arithmetic, comparisons,
// branches and nanosleep.
std::vector<const Instruction*> uses_of_clocks(const Function& function);

}  // namespace krl::ptx
