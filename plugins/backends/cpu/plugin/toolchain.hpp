// g++ as three sandboxed steps, cc1plus, as and ld, that hand their results on through memory: no
// temporary file, and no time spent in drivers. Immutable once found.
#pragma once

#include <chrono>
#include <string>

#include "plugins/backends/evaluator/compile/compile_worker.hpp"

namespace krl {

struct ToolchainLimits {
  std::chrono::milliseconds time{10'000};
  std::uint64_t memory_bytes = std::uint64_t{4} << 30;
};

struct Toolchain {
  std::string name;    // "g++ 12.2.0"
  std::string digest;  // of all that decides what a source compiles to
  CompileWorkerOptions worker;
};

// Asks g++ which programs it would run. `shim`: the folder of krl_device.h. Throws
// Failure(KRL_FAILED_PRECONDITION) if there is no usable g++ or the processor is too old.
Toolchain find_toolchain(const std::string& launcher, const std::string& shim,
                         const ToolchainLimits& limits);

}  // namespace krl
