// Runs a job: loads the module, checks each launch against its kernels, executes the runs, gathers
// the result. One thread, one job at a time.
#pragma once

#include <span>
#include <string_view>

#include "plugins/backends/cpu/runner_protocol.hpp"

namespace krl::emulator {

// `module` are the bytes of the compiled candidate, `arena` the memory that the job's buffers lie
// in. Whatever the job and the module are, this returns a result: what is wrong with them is a
// launch error or a fault.
Result run_job(const Job& job, std::string_view module, std::span<std::byte> arena);

}  // namespace krl::emulator
