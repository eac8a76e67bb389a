#include "plugins/backends/cuda/cuda_backend.hpp"

#include <sstream>
#include <utility>
#include <vector>

#include "plugins/backends/cuda/gpu/ncu/ncu_search.hpp"
#include "plugins/backends/evaluator/sandbox/sandbox.hpp"
#include "plugins/backends/triton/triton_front_end.hpp"

namespace krl::cuda {
using namespace evaluator;

void CudaBackend::start(const Config&, const Context& context) {
  const InstalledFiles files(name_, std::string("the ") + name_ + " backend");
  require_sandbox(probe_sandbox(files.worker("kernelrl-sandbox")), sandbox, context);
  CompileSettings settings = compile_settings();
  const std::string ncu = counters == "ncu" ? wanted_ncu() : "";
  std::vector<gpu::GpuDescription> chosen;
  if (execute == "on") chosen = choose_gpus(gpus, files);
  if (settings.arch.empty() && chosen.empty()) {
    invalid_argument("arch: required with execute = \"off\", for example \"sm_90\"");
  }
  if (settings.arch.empty())
    settings.arch = compiled::require_arch(chosen.front().arch).full_arch();
  CudaCompiler compiler = make_compiler(settings, files);
  compiler.add(Language::kTriton, triton::triton_front_end(settings, files));
  std::unique_ptr<GpuPool> pool;
  if (!chosen.empty()) pool = start_gpus(chosen, compiler, gpu_settings(ncu), files);
  auto executor =
      std::make_unique<GpuExecutor>(executor_settings(), compiler.arch, std::move(pool));
  gpus_in_use_ = static_cast<std::uint32_t>(executor->gpus());
  const std::string problem = executor->counters_problem();
  is_counting_ = problem.empty();
  evaluator_ = std::make_unique<Evaluator>(evaluator_settings(chosen_sizes(), runs_per_case),
                                           std::move(compiler), std::move(executor));
  if (counters == "ncu" && !problem.empty()) {
    throw Failure(KRL_FAILED_PRECONDITION, "counters = \"ncu\": " + problem);
  }
  if (counters == "auto" && !chosen.empty() && !problem.empty()) {
    context.warning(
        "no hardware counters, and therefore no memory signal; everything else works: " + problem);
  }
}

BackendInfo CudaBackend::describe() {
  const std::uint32_t counted = is_counting_ ? KRL_SIGNAL_MEMORY : 0u;
  const std::uint32_t executed = KRL_SIGNAL_CORRECTNESS | KRL_SIGNAL_TIME | counted;
  // While kernels run, others are compiled.
  const std::uint32_t concurrent = at_a_time() + (concurrency > 0 ? 0 : gpus_in_use_);
  return {concurrent,
          KRL_SIGNAL_COMPILE | KRL_SIGNAL_REGISTERS | KRL_SIGNAL_SHARED_MEMORY |
              KRL_SIGNAL_OCCUPANCY | KRL_SIGNAL_INSTRUCTIONS | (gpus_in_use_ > 0 ? executed : 0u),
          evaluator_->toolchain(), evaluator_->device(),
          chosen_sizes() == Sizes::kReal ? KRL_BACKEND_REAL_SIZES : 0u};
}

CompileSettings CudaBackend::compile_settings() const {
  CompileSettings settings = EvaluatorBackend::compile_settings(arch);
  std::istringstream words(compiler_flags);
  for (std::string word; words >> word;) settings.flags.push_back(word);
  settings.memory_bytes = mebibytes(memory_mb);
  return settings;
}

// Runs before the GPUs are waited for, since waiting cannot find a missing installation.
std::string CudaBackend::wanted_ncu() const {
  if (execute == "on") return find_ncu();
  invalid_argument("counters: \"ncu\" profiles running kernels, but execute is \"off\"");
}

GpuSettings CudaBackend::gpu_settings(const std::string& ncu) const {
  GpuSettings settings;
  settings.reference = reference;
  settings.arena_bytes = mebibytes(arena_mb);
  settings.sizes = chosen_sizes();
  settings.counters = counters != "off";
  settings.ncu = ncu;
  settings.libraries = allow_libraries;
  settings.run_limit = milliseconds(run_timeout);
  return settings;
}

GpuExecutorSettings CudaBackend::executor_settings() const {
  GpuExecutorSettings settings;
  settings.libraries = allow_libraries;
  settings.baseline.reference =
      baseline == "reference" || chosen_protocol() == Protocol::kKernelBench;
  if (!baseline_folder.empty()) settings.baseline.kernels = baselines_in(baseline_folder);
  return settings;
}

}  // namespace krl::cuda
