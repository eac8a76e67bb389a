// What a function does with clocks. A clock may decide for how long a thread waits, as the backoff
// of cuda::barrier does; it may not become data, by which a kernel could tell one launch from
// another. Values are followed from register to register. A branch can still make data of a clock
// bit by bit: nothing rests on this check, as every launch that counts is compared.
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
