#include "plugins/backends/evaluator/compile/compile_worker.hpp"

#include <signal.h>

#include <kernelrl/values.hpp>

namespace krl::evaluator {
namespace {

constexpr std::uint64_t kMaxModuleBytes = std::uint64_t{64} << 20;
// More than is kept: an error counts behind any number of warnings.
constexpr std::uint64_t kRawLogBytes = 4 * kMaxLogBytes;

// How a compiler says that it refuses a source, or that it cannot be used.
constexpr int kRefused = 1;

// Whether the source can be the reason: others kill by these, and a compiler by no other code.
bool may_be_of_the_source(const Ending& ending) {
  const bool killed = ending.signal == SIGKILL || ending.signal == SIGTERM;
  return (ending.signal != 0 && !killed) || ending.exit_code == kRefused;
}

// Fills in what the ending of a compile that gave no module means.
void explain(const Ending& ending, std::uint32_t cpu_seconds, CompileOutput* output) {
  if (ending.cancelled) throw Failure(KRL_CANCELLED, "cancelled");
  if (ending.deadline) {
    throw Failure(KRL_UNAVAILABLE,
                  "a compile got too little of the processor to end in time; run fewer at once");
  }
  if (ending.asleep) {
    output->end = CompileOutput::kTimeout;
    output->why = "the compile slept";
  } else if (ending.signal == SIGXCPU || ending.cpu_seconds >= cpu_seconds) {
    output->end = CompileOutput::kTimeout;
    output->why = "the compile took more than " + std::to_string(cpu_seconds) + " s";
  } else if (ending.signal == SIGXFSZ || says_out_of_memory(output->log)) {
    output->end = CompileOutput::kOutOfResources;
    output->why = "the compiler needs more memory than it may use";
  } else if (std::string error = first_error(output->diagnostics); !error.empty()) {
    output->end = CompileOutput::kFailed;
    output->why = std::move(error);
  } else if (may_be_of_the_source(ending)) {
    output->end = CompileOutput::kFailed;
    output->why = ending.signal != 0
                      ? "internal compiler error: the compiler " + ending.description()
                      : "the compiler refuses the source and names no error";
  } else {
    throw Failure(KRL_UNAVAILABLE, "the compile worker " + ending.description() +
                                       (output->log.empty() ? "" : ": " + output->log));
  }
}

}  // namespace

CompileOutput compile(const CompileWorkerOptions& options, std::string_view source,
                      const std::function<bool()>& cancelled) {
  const MemoryFile input = MemoryFile::with("krl-source", source);
  const MemoryFile log = MemoryFile::create("krl-log");
  const MemoryFile module = MemoryFile::create("krl-module");
  std::vector<MemoryFile> work;
  Command command = sandboxed(options.launcher, options.rules, options.steps);
  command.descriptors = {{input.descriptor(), 0},
                         {log.descriptor(), 1},
                         {log.descriptor(), 2},
                         {module.descriptor(), kCompiledModuleDescriptor}};
  for (int i = 0; i < options.work_files; ++i) {
    work.push_back(MemoryFile::create("krl-work"));
    command.descriptors.emplace_back(work.back().descriptor(), kFirstWorkDescriptor + i);
  }
  Subprocess worker(command);
  const Ending ending = worker.wait(options.time_limit * kWallSlack, cancelled);
  return compile_output(ending, options.rules.cpu_seconds, options.source_name, log, module);
}

CompileOutput compile_output(const Ending& ending, std::uint32_t cpu_seconds,
                             std::string_view source_name, const MemoryFile& log,
                             const MemoryFile& module) {
  const std::string said = clean_log(log.read(kRawLogBytes), kRawLogBytes);
  CompileOutput output;
  output.log = clean_log(said);
  output.diagnostics = parse_diagnostics(said, source_name);
  if (!ending.ok()) {
    explain(ending, cpu_seconds, &output);
    return output;
  }
  if (module.size() > kMaxModuleBytes) {
    output.end = CompileOutput::kOutOfResources;
    output.why = "the compiled kernel has " + std::to_string(module.size()) + " bytes";
    return output;
  }
  output.end = CompileOutput::kCompiled;
  output.module = module.read(kMaxModuleBytes);
  return output;
}

}  // namespace krl::evaluator
