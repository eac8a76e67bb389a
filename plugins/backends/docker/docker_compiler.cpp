#include "plugins/backends/docker/docker_compiler.hpp"

#include <kernelrl/values.hpp>
#include <memory>
#include <utility>

#include "plugins/backends/compiled/compute_capability.hpp"
#include "plugins/backends/compiled/resource_report.hpp"
#include "plugins/backends/cuda/host/host_headers.hpp"
#include "plugins/backends/docker/compile_script.hpp"
#include "plugins/backends/docker/container.hpp"
#include "plugins/backends/evaluator/compile/diagnostics.hpp"
#include "plugins/backends/evaluator/compile/message_places.hpp"
#include "plugins/backends/nvcc/nvcc_toolkit.hpp"
#include "plugins/files/digest.hpp"

namespace krl::docker {
using namespace compiled;
using namespace evaluator;
using namespace nvcc;
namespace {

constexpr std::chrono::seconds kVersionLimit{60};
constexpr std::uint64_t kKibibyte = 1024;
constexpr char kToolkitInside[] = "/usr/local/cuda";

// Exit codes as a shell reports them: 128 plus the signal. nvcc's programs end by the second if
// they ignore the first.
constexpr int kSignalled = 128, kProcessorLimit = 128 + 24, kKilled = 128 + 9;

// "nvcc 13.0.88"
std::string version_of_nvcc(Container& container) {
  ContainerCommand command;
  command.arguments = {kNvcc, "--version"};
  command.time_limit = kVersionLimit;
  const CommandResult result = container.run(command);
  constexpr std::string_view kBefore = ", V";
  const std::size_t at = result.out.find(kBefore);
  if (!result.ok() || at == std::string::npos) {
    throw Failure(KRL_FAILED_PRECONDITION,
                  "nvcc does not run in the container: " + result.out + result.err);
  }
  const std::size_t begin = at + kBefore.size();
  return "nvcc " + result.out.substr(begin, result.out.find_first_of(" \n", begin) - begin);
}

ContainerCommand compile_command(const DockerCompilerSettings& all, const std::string& script) {
  const CompileSettings& settings = all.compile;
  ContainerCommand command;
  command.arguments = {"/bin/sh",
                       "-c",
                       script,
                       "compile",
                       std::to_string(settings.cpu_seconds()),
                       std::to_string(settings.memory_bytes / kKibibyte),
                       settings.arch};
  command.arguments.insert(command.arguments.end(), settings.flags.begin(), settings.flags.end());
  command.time_limit = all.time_limit;
  command.output_limits.err_bytes = 4 * kMaxLogBytes;  // lines are cut and dropped afterwards
  return command;
}

void ended(CompileOutput& output, CompileOutput::End end, std::string why) {
  output.end = end;
  output.why = std::move(why);
}

// Explains why a compile gave no module.
void explain(const CommandResult& result, const DockerCompilerSettings& settings,
             CompileOutput& output) {
  const int code = result.exit_code;
  if (result.end == CommandResult::kTimedOut) {
    throw Failure(KRL_UNAVAILABLE, std::string(kTooLittleCpuTime) + ", or raise 'timeout'");
  }
  if (result.end == CommandResult::kTooMuchOutput) {
    ended(output, CompileOutput::kOutOfResources, "the compiled kernel is too large");
  } else if (result.end == CommandResult::kOutOfMemory || says_out_of_memory(output.log)) {
    ended(output, CompileOutput::kOutOfResources, kCompilerOutOfMemory);
  } else if (code == kProcessorLimit || code == kKilled) {
    ended(output, CompileOutput::kTimeout, took_more_than(settings.compile.cpu_seconds()));
  } else if (std::string error = first_error(output.diagnostics); !error.empty()) {
    ended(output, CompileOutput::kFailed, std::move(error));
  } else if (code > kSignalled) {
    ended(output, CompileOutput::kFailed,
          "internal compiler error: nvcc crashed by signal " + std::to_string(code - kSignalled));
  } else {
    throw Failure(KRL_UNAVAILABLE,
                  "nvcc ended with code " + std::to_string(code) + ": " + output.log);
  }
}

// The result of a script. `module`: its output, if any.
CompileOutput output_of(const CommandResult& result, const DockerCompilerSettings& settings,
                        std::optional<CompiledModule> module) {
  SplitLog log = split_log(result.err + (module ? module->report : ""));
  if (module) module->report = std::move(log.report);
  CompileOutput output;
  output.log = clean_log(log.messages);
  output.diagnostics = parse_diagnostics(output.log, kSourceFile);
  if (!result.ok()) {
    explain(result, settings, output);
  } else if (!module) {
    ended(output, CompileOutput::kFailed, "the compiled code lacks kernels that are launched");
  } else {
    ended(output, CompileOutput::kCompiled, "");
    output.module = to_bytes(*module);
  }
  return output;
}

CompileOutput compile_in(Container& container, const DockerCompilerSettings& settings,
                         std::string_view source, const std::vector<std::string>& kernels,
                         const Cancelled& cancelled) {
  ContainerCommand command = compile_command(settings, kCompileScript);
  command.input = with_kernel_references(source, kernels);
  const CommandResult result = container.run(command, cancelled);
  std::optional<CompiledModule> module;
  if (result.ok()) module = read_module(result.out, kernels.size());
  return output_of(result, settings, std::move(module));
}

CompileOutput compile_library_in(Container& container, const DockerCompilerSettings& settings,
                                 std::string_view source, const Cancelled& cancelled) {
  ContainerCommand command = compile_command(settings, kLibraryScript);
  command.input = source;
  const CommandResult result = container.run(command, cancelled);
  std::optional<CompiledModule> module;
  if (result.ok()) module = read_library(result.out);
  return output_of(result, settings, std::move(module));
}

CompileOutput assemble_in(Container& container, const DockerCompilerSettings& settings,
                          std::string_view ptx, const std::vector<std::string>& kernels,
                          const Cancelled& cancelled) {
  const std::string text = in_ascii(ptx);
  ContainerCommand command = compile_command(settings, kAssembleScript);
  command.input = text;
  CommandResult result = container.run(command, cancelled);
  std::optional<CompiledModule> module;
  if (result.ok()) module = read_module(result.out, 0);
  if (module) module->names = kernels;
  result.err = with_lines_of_ptx(result.err, text);
  return output_of(result, settings, std::move(module));
}

std::string identity_of(const DockerCompilerSettings& all, const std::string& version,
                        const std::string& image_id) {
  const CompileSettings& settings = all.compile;
  files::Digest digest;
  digest.add(version).add(image_id).add(kCompileScript).add(kAssembleScript).add(settings.arch);
  digest.add(settings.memory_bytes).add(settings.cpu_seconds());
  for (const char* program : {"nvcc", "ptxas"}) {
    std::error_code error;
    digest.add(std::filesystem::file_size(settings.cuda / "bin" / program, error));
  }
  if (!all.host_headers.empty()) {
    digest.add(kLibraryScript).add(cuda::digest_of_headers(all.host_headers));
  }
  digest.add(all.container.memory_bytes).add(all.container.folder_bytes);
  for (const std::string& flag : settings.flags) digest.add(flag);
  return digest.hex();
}

}  // namespace

CudaCompiler docker_compiler(const DockerCompilerSettings& wanted) {
  compiled::require_arch(wanted.compile.arch);
  DockerCompilerSettings settings = wanted;
  settings.compile.cuda = find_nvcc(wanted.compile.cuda, wanted.wheels).parent_path().parent_path();
  settings.container.mounts.push_back({settings.compile.cuda, kToolkitInside});
  const bool takes_host = !settings.host_headers.empty();
  if (takes_host) {
    settings.container.mounts.push_back({settings.host_headers, kHostHeadersInside});
  }
  const auto container = std::make_shared<Container>(settings.container);
  const std::string version = version_of_nvcc(*container);
  const auto compile = [container, settings](std::string_view source,
                                             const std::vector<std::string>& kernels,
                                             const Cancelled& cancelled) {
    return compile_in(*container, settings, source, kernels, cancelled);
  };
  CudaCompiler compiler{version + " in Docker", settings.compile.arch,
                        identity_of(settings, version, container->image_id()), compile};
  compiler.assemble = [container, settings](std::string_view ptx,
                                            const std::vector<std::string>& kernels,
                                            const Cancelled& cancelled) {
    return assemble_in(*container, settings, ptx, kernels, cancelled);
  };
  if (takes_host) {
    compiler.compile_library = [container, settings](std::string_view source,
                                                     const Cancelled& cancelled) {
      return compile_library_in(*container, settings, source, cancelled);
    };
  }
  return compiler;
}

}  // namespace krl::docker
