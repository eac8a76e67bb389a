// Runs a job: reads the module, prepares it, executes every launch of every run. See
// machine_protocol.hpp.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "plugins/backends/cpu/machine_protocol.hpp"

namespace krl::machine {
using namespace cpu;

// Runs a job. `ptx`: text of the module, untrusted; job.kernels are names of its entries. `arena`:
// the memory of all buffers, at least as aligned as kBufferAlignment. Anything that the machine
// does not support is a fault of kind kUnsupported.
cpu::Result run_job(const cpu::Job& job, std::string_view ptx, std::span<std::byte> arena);

}  // namespace krl::machine
