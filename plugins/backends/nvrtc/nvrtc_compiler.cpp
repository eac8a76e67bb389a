#include "plugins/backends/nvrtc/nvrtc_compiler.hpp"

#include <cmath>
#include <kernelrl/values.hpp>
#include <utility>

#include "plugins/backends/cuda/compute_capability.hpp"
#include "plugins/backends/cuda/resource_report.hpp"
#include "plugins/backends/cuda/sandboxed_compiles.hpp"
#include "plugins/backends/nvrtc/nvrtc_library.hpp"
#include "plugins/backends/nvrtc/prelude.hpp"

namespace krl {
namespace {

constexpr std::chrono::seconds kVersionLimit{30};

// What the worker's process may read.
std::vector<std::string> readable_files(const NvrtcLibrary& nvrtc) {
  std::vector<std::string> files = {
      "/usr/lib", "/usr/lib64",       "/lib",
      "/lib64",   "/etc/ld.so.cache", nvrtc.library.parent_path().string()};
  if (!nvrtc.headers.empty()) files.push_back(nvrtc.headers.string());
  return files;
}

// Lacks the kernels' names.
std::vector<std::string> compile_step(const std::string& program, const CompileSettings& settings,
                                      const NvrtcLibrary& nvrtc) {
  std::vector<std::string> step = {program,
                                   nvrtc.library.string(),
                                   "--gpu-architecture=" + settings.arch,
                                   "--std=c++17",
                                   "--generate-line-info",
                                   std::string("--pre-include=") + nvrtc::kPreludeName,
                                   std::string(kReportOption)};
  if (!nvrtc.headers.empty()) {
    step.push_back("--include-path=" + nvrtc.headers.string());
    step.push_back("--include-path=" + (nvrtc.headers / "cccl").string());  // <cuda/std/…>
  }
  step.insert(step.end(), settings.flags.begin(), settings.flags.end());
  step.emplace_back("--kernels");
  return step;
}

// "13.0". Asks NVRTC in a process of its own: it is a large library, and none of ours.
std::string version_of(const CompileWorkerOptions& worker, const std::string& program,
                       const NvrtcLibrary& nvrtc) {
  const MemoryFile answer = MemoryFile::create("krl-version");
  Command command =
      sandboxed(worker.launcher, worker.rules, {{program, nvrtc.library.string(), "--version"}});
  command.descriptors = {{answer.descriptor(), 1}, {answer.descriptor(), 2}};
  const Ending ending = Subprocess(command).wait(kVersionLimit);
  const std::string text = answer.read(4096);
  if (ending.ok()) return text;
  throw Failure(KRL_FAILED_PRECONDITION,
                nvrtc.library.string() + " cannot be used: " + ending.description() + " " + text);
}

}  // namespace

CudaCompiler nvrtc_compiler(const CompileSettings& settings, const InstalledFiles& files) {
  require_arch(settings.arch);
  const NvrtcLibrary nvrtc = find_nvrtc(settings.cuda, files.wheels());
  const std::string program = files.worker("kernelrl-nvrtc");
  CompileWorkerOptions worker;
  worker.launcher = files.worker("kernelrl-sandbox");
  worker.steps = {compile_step(program, settings, nvrtc)};
  worker.work_files = 0;
  worker.time_limit = settings.compile_limit;
  worker.source_name = "kernel.cu";
  worker.rules.address_space_bytes = settings.memory_bytes;
  worker.rules.cpu_seconds = static_cast<std::uint32_t>(
      std::ceil(static_cast<double>(settings.compile_limit.count()) / 1000));
  worker.rules.readable = readable_files(nvrtc);

  const std::string version = version_of(worker, program, nvrtc);
  Digest digest;
  digest.add(version).add(std::filesystem::file_size(nvrtc.library));
  digest.add(settings.arch).add(settings.memory_bytes).add(worker.rules.cpu_seconds);
  for (const std::string& flag : settings.flags) digest.add(flag);
  for (const std::string& file : {program, worker.launcher, files.plugin()}) {
    digest.add(read_file(file));
  }
  return {"NVRTC " + version, settings.arch, digest.hex(), sandboxed_compiles(worker)};
}

}  // namespace krl
