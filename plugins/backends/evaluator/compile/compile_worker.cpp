#include "plugins/backends/evaluator/compile/compile_worker.hpp"

#include <signal.h>

#include <kernelrl/values.hpp>

namespace krl {
namespace {

constexpr std::uint64_t kMaxModuleBytes = std::uint64_t{64} << 20;
// More than is kept, so that whole lines can be cut and repetitions dropped.
constexpr std::uint64_t kRawLogBytes = 4 * kMaxLogBytes;

// Fills in what the ending of a compile that gave no module means.
void explain(const Ending& ending, const CompileWorkerOptions& options, CompileOutput* output) {
  if (ending.cancelled) throw Failure(KRL_CANCELLED, "cancelled");
  if (ending.deadline) {
    throw Failure(KRL_UNAVAILABLE,
                  "a compile got too little of the processor to end in time; run fewer at once");
  }
  if (ending.signal == SIGXCPU || ending.cpu_seconds >= options.rules.cpu_seconds) {
    output->end = CompileOutput::kTimeout;
    output->why = "the compile took more than " + std::to_string(options.rules.cpu_seconds) + " s";
  } else if (ending.signal == SIGXFSZ || says_out_of_memory(output->log)) {
    output->end = CompileOutput::kOutOfResources;
    output->why = "the compiler needs more memory than it may use";
  } else if (std::string error = first_error(output->diagnostics); !error.empty()) {
    output->end = CompileOutput::kFailed;
    output->why = std::move(error);
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
  const std::string raw_log = log.read(kRawLogBytes);

  CompileOutput output;
  output.log = clean_log(raw_log);
  output.diagnostics = parse_diagnostics(output.log, options.source_name);
  if (!ending.ok()) {
    explain(ending, options, &output);
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

}  // namespace krl
