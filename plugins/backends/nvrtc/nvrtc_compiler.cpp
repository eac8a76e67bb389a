#include "plugins/backends/nvrtc/nvrtc_compiler.hpp"

#include <kernelrl/values.hpp>
#include <utility>

#include "plugins/backends/compiled/compute_capability.hpp"
#include "plugins/backends/compiled/resource_report.hpp"
#include "plugins/backends/nvrtc/compile_servers.hpp"
#include "plugins/backends/nvrtc/nvrtc_library.hpp"
#include "plugins/backends/nvrtc/prelude.hpp"
#include "plugins/files/digest.hpp"
#include "plugins/files/file.hpp"

namespace krl::nvrtc {
using namespace evaluator;

std::vector<std::string> nvrtc_files(const NvrtcLibrary& nvrtc) {
  auto files = with_system_libraries({nvrtc.library.parent_path().string()});
  if (!nvrtc.headers.empty()) files.push_back(nvrtc.headers.string());
  return files;
}

std::vector<std::string> nvrtc_options(const CompileSettings& settings, const NvrtcLibrary& nvrtc) {
  std::vector<std::string> options = {"--gpu-architecture=" + settings.arch,
                                      "--std=c++17",
                                      "--device-int128",
                                      "--generate-line-info",
                                      std::string("--pre-include=") + nvrtc::kPreludeName,
                                      std::string(compiled::kReportOption)};
  if (!nvrtc.headers.empty()) {
    options.push_back("--include-path=" + nvrtc.headers.string());
    options.push_back("--include-path=" + (nvrtc.headers / "cccl").string());  // <cuda/std/…>
  }
  options.insert(options.end(), settings.flags.begin(), settings.flags.end());
  return options;
}

namespace {

constexpr std::chrono::seconds kVersionLimit{30};

// "13.0". Asks NVRTC in a separate process: it is a large library, and none of ours.
std::string version_of(const CompileServerOptions& server) {
  const MemoryFile answer = MemoryFile::create("krl-version");
  Command command =
      sandboxed(server.launcher, server.rules, {{server.program, server.library, "--version"}});
  command.descriptors = {{answer.descriptor(), 1}, {answer.descriptor(), 2}};
  const Ending ending = Subprocess(command).wait(kVersionLimit);
  const std::string text = answer.read(4096);
  if (ending.ok()) return text;
  throw Failure(KRL_FAILED_PRECONDITION,
                server.library + " cannot be used: " + ending.description() + " " + text);
}

}  // namespace

CudaCompiler nvrtc_compiler(const CompileSettings& settings, const InstalledFiles& files) {
  compiled::require_arch(settings.arch);
  const NvrtcLibrary nvrtc = find_nvrtc(settings.cuda, files.wheels());
  CompileServerOptions server;
  server.launcher = files.worker("kernelrl-sandbox");
  server.program = files.worker("kernelrl-nvrtc");
  server.library = nvrtc.library.string();
  server.assembler = nvrtc.assembler.string();
  server.options = nvrtc_options(settings, nvrtc);
  server.time_limit = settings.compile_limit;
  server.rules.address_space_bytes = settings.memory_bytes;
  server.rules.cpu_seconds = settings.cpu_seconds();
  server.rules.readable = nvrtc_files(nvrtc);

  const std::string version = version_of(server);
  files::Digest digest;
  digest.add(version).add(std::filesystem::file_size(nvrtc.library)).add(server.assembler);
  digest.add(settings.arch).add(settings.memory_bytes).add(server.rules.cpu_seconds);
  for (const std::string& flag : settings.flags) digest.add(flag);
  for (const std::string& file : {server.program, server.launcher, files.plugin()}) {
    digest.add(files::read_file_or_empty(file));
  }
  const auto servers = std::make_shared<CompileServers>(std::move(server));
  CudaCompiler compiler{"NVRTC " + version, settings.arch, digest.hex(),
                        [servers](std::string_view source, const std::vector<std::string>& kernels,
                                  const Cancelled& cancelled) {
                          return servers->compile(source, kernels, cancelled);
                        }};
  if (!nvrtc.assembler.empty()) {
    compiler.assemble = [servers](std::string_view ptx, const std::vector<std::string>& kernels,
                                  const Cancelled& cancelled) {
      return servers->assemble(ptx, kernels, cancelled);
    };
  }
  return compiler;
}

}  // namespace krl::nvrtc
