// Tracks how a function uses clocks. A clock may determine how long a thread waits, as in the
// backoff of cuda::barrier. It must not become data, with which a kernel could distinguish
// launches, nor decide about anything else. Values are followed from register to register, and from
// a branch to the values that are computed on one of its sides only. A kernel can still notice
// delays in memory, so nothing relies on this check: every launch that counts is compared.
#pragma once

#include <vector>

#include "plugins/backends/ptx/module.hpp"

namespace krl::ptx {

// "%clock64", "%globaltimer_lo", …
bool is_clock(const Operand& operand);

// Returns the instructions that use a clock's value other than in arithmetic, comparisons and
// waiting, and those that a clock decides about, unless they only compute or wait, too.
std::vector<const Instruction*> uses_of_clocks(const Function& function);

}  // namespace krl::ptx
