// Decides if threads that wait at two barriers wait at the same barrier of the source.
#pragma once

#include "plugins/backends/cpu/machine/program.hpp"

namespace krl::machine {

// Compilers copy a barrier only where they unroll a loop, and then one copy comes after the other:
// barriers of two branches are two, even in one line. `second` is a block of `function`.
bool is_one_barrier(const Function& function, const BasicBlock& first, const BasicBlock& second);

}  // namespace krl::machine
