#include "plugins/backends/nvcc/nvcc_compiler.hpp"

#include "plugins/backends/compiled/compute_capability.hpp"
#include "plugins/backends/cuda/host/host_headers.hpp"
#include "plugins/backends/evaluator/compile/sandboxed_compiles.hpp"
#include "plugins/backends/nvcc/nvcc_toolkit.hpp"
#include "plugins/files/digest.hpp"
#include "plugins/files/file.hpp"

namespace krl::nvcc {
using namespace evaluator;
namespace {

constexpr std::uint64_t kFolderBytes = std::uint64_t{1} << 30;

// "-arch=sm_90a" would compile the code for sm_90 as well.
std::vector<std::string> options_of(const CompileSettings& settings) {
  const std::string version = settings.arch.substr(settings.arch.find('_') + 1);
  std::vector<std::string> options = {"-gencode=arch=compute_" + version + ",code=" + settings.arch,
                                      "-std=c++17", "--generate-line-info", "-Xptxas=-v"};
  options.insert(options.end(), settings.flags.begin(), settings.flags.end());
  return options;
}

// Lacks the kernels' names.
std::vector<std::string> compile_step(const std::string& program, const NvccPlan& plan) {
  std::vector<std::string> step = {program};
  for (const auto* command : {&plan.preprocess, &plan.translate, &plan.assemble}) {
    step.insert(step.end(), command->begin(), command->end());
    step.emplace_back(kNvccNext);
  }
  return step;
}

// The same for PTX.
std::vector<std::string> assemble_step(const std::string& program, const NvccPlan& plan) {
  std::vector<std::string> step = {program, kNvccAssembles};
  step.insert(step.end(), plan.assemble.begin(), plan.assemble.end());
  step.emplace_back(kNvccNext);
  return step;
}

// Makes the rules for an NvccPlan or NvccLibraryPlan.
template <class Plan>
SandboxRules rules_for(const CompileSettings& settings, const Plan& plan) {
  SandboxRules rules;
  rules.address_space_bytes = settings.memory_bytes;
  rules.cpu_seconds = settings.cpu_seconds();
  rules.children = true;
  rules.private_folder_bytes = kFolderBytes;
  rules.readable = plan.readable;
  rules.programs = plan.programs;
  return rules;
}

std::vector<std::string> library_step(const std::string& program, const NvccLibraryPlan& plan) {
  std::vector<std::string> step = {program, kNvccMakesLibrary};
  for (const std::vector<std::string>& command : plan.commands) {
    if (&command != &plan.commands.front()) step.emplace_back(kNvccNext);
    step.insert(step.end(), command.begin(), command.end());
  }
  return step;
}

std::string digest_of(const CompileSettings& settings, const NvccPlan& plan,
                      const std::vector<std::string>& our_files) {
  files::Digest digest;
  digest.add(settings.memory_bytes).add(rules_for(settings, plan).cpu_seconds);
  for (const std::string& option : options_of(settings)) digest.add(option);
  for (const auto* command : {&plan.preprocess, &plan.translate, &plan.assemble}) {
    for (const std::string& word : *command) digest.add(word);
  }
  for (const std::string& program : plan.programs) digest.add(std::filesystem::file_size(program));
  for (const std::string& file : our_files) digest.add(files::read_file_or_empty(file));
  return digest.hex();
}

}  // namespace

CudaCompiler nvcc_compiler(const CompileSettings& settings, const InstalledFiles& files) {
  compiled::require_arch(settings.arch);
  const std::filesystem::path nvcc = find_nvcc(settings.cuda, files.wheels());
  const std::string version = nvcc_version(nvcc);
  const NvccPlan plan = plan_nvcc(nvcc, options_of(settings));
  const std::string program = files.worker("kernelrl-nvcc");
  CompileWorkerOptions worker;
  worker.launcher = files.worker("kernelrl-sandbox");
  worker.rules = rules_for(settings, plan);
  worker.steps = {compile_step(program, plan)};
  worker.work_files = 0;
  worker.time_limit = settings.compile_limit;
  worker.source_name = kSourceFile;

  const std::string headers = files.shared_folder(cuda::kHostHeaders);
  std::vector<std::string> options = options_of(settings);
  options.insert(options.end(), {"-isystem=" + headers, "--expt-relaxed-constexpr"});
  NvccLibraryPlan library = plan_nvcc_library(nvcc, options);
  library.readable.push_back(headers);
  CompileWorkerOptions linker = worker;
  linker.rules = rules_for(settings, library);
  linker.steps = {library_step(program, library)};

  CompileWorkerOptions assembler = worker;
  assembler.steps = {assemble_step(program, plan)};

  return {"nvcc " + version,
          settings.arch,
          digest_of(settings, plan, {program, worker.launcher, files.plugin()}) +
              cuda::digest_of_headers(headers),
          sandboxed_compiles(worker),
          [linker](std::string_view source, const Cancelled& cancelled) {
            return compile(linker, source, cancelled);
          },
          sandboxed_compiles(assembler)};
}

}  // namespace krl::nvcc
