#include "plugins/backends/cuda/gpu/gpu_start.hpp"

#include <algorithm>
#include <charconv>
#include <kernelrl/values.hpp>
#include <sstream>

#include "plugins/backends/compiled/compiled_module.hpp"
#include "plugins/backends/compiled/compute_capability.hpp"
#include "plugins/backends/cuda/gpu/gpu_search.hpp"
#include "trusted_kernels_source.hpp"

namespace krl::cuda {
using namespace evaluator;
namespace {

// Default size of an arena: a GPU has four of them, and perhaps a policy alongside.
std::uint64_t usual_arena(std::uint64_t gpu_bytes, Sizes sizes) {
  constexpr std::uint64_t kGibibyte = std::uint64_t{1} << 30;
  if (sizes == Sizes::kSmall) return std::min(gpu_bytes / 32, kGibibyte);
  return std::min(gpu_bytes / 16, 4 * kGibibyte);
}

std::vector<int> indices_of(const std::string& text) {
  std::vector<int> indices;
  std::istringstream stream(text);
  for (std::string word; std::getline(stream, word, ',');) {
    int index = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), index);
    if (error != std::errc() || end != word.data() + word.size()) {
      invalid_argument("gpus: '" + word + "' is not a GPU number; write them as \"0,1\"");
    }
    indices.push_back(index);
  }
  return indices;
}

}  // namespace

std::string compiled_trusted_code(const CudaCompiler& compiler) {
  const CompileOutput output = compiler.compile(
      trusted_kernels_source,
      {"krl_fill", "krl_change", "krl_put_away", "krl_fetch", "krl_wait", "krl_nothing",
       "krl_compare_reals", "krl_compare_integers", "krl_compare_launches", "krl_find_changes",
       "krl_overwrite", "krl_overwrite_local_128", "krl_overwrite_local_512",
       "krl_overwrite_local_2048", "krl_overwrite_local_8192", "krl_overwrite_local_32768",
       "krl_overwrite_local_65536"},
      {});
  const auto module = module_from_bytes(output.module);
  if (module) return module->cubin;
  throw Failure(KRL_FAILED_PRECONDITION,
                compiler.name + " does not compile kernelrl's trusted kernels: " + output.why);
}

std::vector<gpu::GpuDescription> choose_gpus(const std::string& indices,
                                             const InstalledFiles& files) {
  const auto gpus = find_gpus(files.worker("kernelrl-gpu-runner"), indices_of(indices));
  for (const gpu::GpuDescription& gpu : gpus) {
    if (gpu.name == gpus.front().name) continue;
    invalid_argument("gpus: GPU " + std::to_string(gpu.index) + " (" + gpu.name +
                     ") differs from GPU " + std::to_string(gpus.front().index) + " (" +
                     gpus.front().name + "), and times could not be compared; choose equal ones");
  }
  return gpus;
}

std::unique_ptr<GpuPool> start_gpus(const std::vector<gpu::GpuDescription>& gpus,
                                    const CudaCompiler& compiler, const GpuSettings& settings,
                                    const InstalledFiles& files) {
  const gpu::GpuDescription& gpu = gpus.front();
  if (require_arch(compiler.arch).arch() != gpu.arch) {
    invalid_argument("arch: " + compiler.arch + " code does not run on " + gpu.name +
                     ", which is " + gpu.arch + "; leave 'arch' out");
  }
  GpuWorkers workers;
  workers.runner = files.worker("kernelrl-gpu-runner");
  workers.checker = files.worker("kernelrl-gpu-checker");
  workers.sandbox = files.worker("kernelrl-sandbox");
  workers.profiler_is_ncu = settings.counters && !settings.ncu.empty();
  if (settings.counters) {
    workers.profiler =
        workers.profiler_is_ncu ? settings.ncu : files.worker("kernelrl-gpu-profiler");
  }
  workers.reference_device = settings.reference;
  workers.environment = gpu_environment();
  workers.libraries = find_libraries(settings.libraries, workers.environment);
  workers.trusted_code = compiled_trusted_code(compiler);
  workers.arena_bytes = settings.arena_bytes != 0 ? settings.arena_bytes
                                                  : usual_arena(gpu.memory_bytes, settings.sizes);
  workers.run_limit = settings.run_limit;
  return std::make_unique<GpuPool>(gpus, std::move(workers));
}

}  // namespace krl::cuda
