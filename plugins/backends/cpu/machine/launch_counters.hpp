// The counters of a launch, from those of its basic blocks. One thread.
#pragma once

#include "plugins/backends/cpu/machine/program.hpp"
#include "plugins/backends/cpu/runner_protocol.hpp"

namespace krl::machine {

// Before a launch.
void clear_counters(Program& program);
// After it: adds what is not memory's to `counters`.
void add_counters(const Program& program, const cpu::Launch& launch, cpu::Counters* counters);

}  // namespace krl::machine
