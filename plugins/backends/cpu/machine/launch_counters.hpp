// Computes the counters of a launch from those of its basic blocks. Used by one thread.
#pragma once

#include "plugins/backends/cpu/machine/program.hpp"
#include "plugins/backends/cpu/machine_protocol.hpp"

namespace krl::machine {

// Before a launch.
void clear_counters(Program& program);
// Adds the counters other than memory's to `counters`, after the launch.
void add_counters(const Program& program, const cpu::Launch& launch, cpu::Counters* counters);

}  // namespace krl::machine
