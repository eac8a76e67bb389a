// One compile in a separate sandboxed process: source in, module and log out. What is compiled,
// and with what, is the backend's. Thread-safe: it has no state but its options.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "plugins/backends/evaluator/compile/diagnostics.hpp"
#include "plugins/backends/evaluator/sandbox/sandbox.hpp"

namespace krl::evaluator {

// The descriptors of a compile: its steps read the source from 0, put what they hand on to one
// another into the work files, and the module into kModuleDescriptor, all by /proc/self/fd/N.
// No compile writes a file that has a name, so none is ever left behind.
inline constexpr int kCompiledModuleDescriptor = 4;
inline constexpr int kFirstWorkDescriptor = 5;

struct CompileWorkerOptions {
  std::string launcher;  // kernelrl-sandbox
  SandboxRules rules;
  std::vector<std::vector<std::string>> steps;
  int work_files = 2;
  std::chrono::milliseconds time_limit{10'000};  // of the processor, as in the rules
  std::string source_name;                       // as in the log: "kernel.cu"
};

struct CompileOutput {
  enum End { kCompiled, kFailed, kTimeout, kOutOfResources } end = kFailed;
  std::string module;  // only if compiled
  std::string log;     // clean
  std::vector<Diagnostic> diagnostics;
  std::string why;  // one line; empty if compiled
};

// What a compile came to that ended so. `cpu_seconds`: that it might take; `source_name`: the
// candidate's, as the log has it. Throws Failure as compile does.
CompileOutput compile_output(const Ending& ending, std::uint32_t cpu_seconds,
                             std::string_view source_name, const MemoryFile& log,
                             const MemoryFile& module);

// Throws Failure: KRL_UNAVAILABLE if the worker could not do its work (the candidate is not to
// blame, the host may try again), KRL_CANCELLED.
CompileOutput compile(const CompileWorkerOptions& options, std::string_view source,
                      const std::function<bool()>& cancelled);

}  // namespace krl::evaluator
