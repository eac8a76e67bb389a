// Runs one compile in a separate sandboxed process: source in, module and log out. The backend
// chooses the compiler and its input. Thread-safe: it has no state but its options.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "plugins/backends/evaluator/compile/diagnostics.hpp"
#include "plugins/backends/evaluator/sandbox/sandbox.hpp"

namespace krl::evaluator {

// The descriptors of a compile: its steps read the source from 0, put intermediate results into the
// work files, and the module into kCompiledModuleDescriptor, all by /proc/self/fd/N. No compile
// writes a file that has a name, so none is ever left over.
inline constexpr int kCompiledModuleDescriptor = 4;
inline constexpr int kFirstWorkDescriptor = 5;

struct CompileWorkerOptions {
  std::string launcher;  // kernelrl-sandbox
  SandboxRules rules;
  std::vector<std::vector<std::string>> steps;
  int work_files = 2;
  std::chrono::milliseconds time_limit{10'000};  // processor time, as the rules count it
  std::string source_name;                       // the name that appears in the log: "kernel.cu"
};

struct CompileOutput {
  enum End { kCompiled, kFailed, kTimeout, kOutOfResources } end = kFailed;
  std::string module;  // only if compiled
  std::string log;     // clean
  std::vector<Diagnostic> diagnostics;
  std::string why;  // one line; empty if compiled
};

// Reasons of failed compiles that all backends share.
inline constexpr char kTooLittleCpuTime[] =
    "a compile timed out for lack of CPU time; lower the number of concurrent compiles";
inline constexpr char kCompilerOutOfMemory[] = "the compiler exceeded its memory limit";
std::string took_more_than(std::uint32_t cpu_seconds);

// The verdict on a candidate whose compile ended so; kOk if it compiled.
Verdict verdict_of(CompileOutput::End end);

// The output of a compile that ended so. `cpu_seconds`: its limit; `source_name`: the candidate's,
// as the log has it. Throws Failure as compile does.
CompileOutput compile_output(const Ending& ending, std::uint32_t cpu_seconds,
                             std::string_view source_name, const MemoryFile& log,
                             const MemoryFile& module);

// Throws Failure: KRL_UNAVAILABLE if the worker could not do its work (the candidate is not to
// blame, the host may try again), KRL_CANCELLED.
CompileOutput compile(const CompileWorkerOptions& options, std::string_view source,
                      const std::function<bool()>& cancelled);

}  // namespace krl::evaluator
