#include "plugins/backends/evaluator/compile/compile_worker.hpp"

#include <signal.h>

#include <kernelrl/values.hpp>

namespace krl::evaluator {
namespace {

constexpr std::uint64_t kMaxModuleBytes = std::uint64_t{64} << 20;
// More than is kept: an error counts after any number of warnings.
constexpr std::uint64_t kRawLogBytes = 4 * kMaxLogBytes;

// The exit code of a compiler that rejects a source, or cannot be used.
constexpr int kRefused = 1;

// True if the source may have caused this ending: SIGKILL and SIGTERM come from others, and a
// compiler reports a bad source only by kRefused.
bool may_be_of_the_source(const Ending& ending) {
  const bool killed = ending.signal == SIGKILL || ending.signal == SIGTERM;
  return (ending.signal != 0 && !killed) || ending.exit_code == kRefused;
}

// Fills in why a compile gave no module.
void explain(const Ending& ending, std::uint32_t cpu_seconds, CompileOutput* output) {
  if (ending.cancelled) throw Failure(KRL_CANCELLED, "cancelled");
  if (ending.deadline) {
    throw Failure(KRL_UNAVAILABLE, kTooLittleCpuTime);
  }
  std::string error = first_error(output->diagnostics);
  if (ending.asleep) {
    output->end = CompileOutput::kTimeout;
    output->why = "the compiler was idle and was killed";
  } else if (ending.signal == SIGXCPU || ending.cpu_seconds >= cpu_seconds) {
    output->end = CompileOutput::kTimeout;
    output->why = took_more_than(cpu_seconds);
  } else if (ending.signal == SIGXFSZ ||
             (!error.starts_with("line ") && says_out_of_memory(output->log))) {
    output->end = CompileOutput::kOutOfResources;
    output->why = kCompilerOutOfMemory;
  } else if (!error.empty()) {
    output->end = CompileOutput::kFailed;
    output->why = std::move(error);
  } else if (may_be_of_the_source(ending)) {
    output->end = CompileOutput::kFailed;
    output->why = ending.signal != 0
                      ? "internal compiler error: the compiler " + ending.description()
                      : "the compiler rejected the source without an error message";
  } else {
    throw Failure(KRL_UNAVAILABLE, "the compile worker " + ending.description() +
                                       (output->log.empty() ? "" : ": " + output->log));
  }
}

}  // namespace

std::string took_more_than(std::uint32_t cpu_seconds) {
  return "the compile took more than " + std::to_string(cpu_seconds) + " s";
}

Verdict verdict_of(CompileOutput::End end) {
  switch (end) {
    case CompileOutput::kTimeout:
      return Verdict::kTimeout;
    case CompileOutput::kOutOfResources:
      return Verdict::kResourceLimit;
    case CompileOutput::kFailed:
      return Verdict::kCompileError;
    case CompileOutput::kCompiled:
      break;
  }
  return Verdict::kOk;
}

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
    output.why = "the compiled kernel is " + std::to_string(module.size()) +
                 " bytes; the limit is " + std::to_string(kMaxModuleBytes);
    return output;
  }
  output.end = CompileOutput::kCompiled;
  output.module = module.read(kMaxModuleBytes);
  return output;
}

}  // namespace krl::evaluator
