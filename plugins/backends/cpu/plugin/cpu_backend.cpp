// The `cpu` backend: kernels compiled by NVRTC, executed by a machine for PTX, checked against
// libtorch; no GPU. Heavy work starts in start(): describing the plugin costs nothing.
#include <kernelrl/sdk.hpp>
#include <tuple>

#include "plugins/backends/cpu/plugin/cpu_executor.hpp"
#include "plugins/backends/evaluator/evaluator_backend.hpp"
#include "plugins/backends/nvrtc/nvrtc_compiler.hpp"
#include "plugins/backends/triton/triton_front_end.hpp"

namespace krl::cpu {
using namespace evaluator;
namespace {

class CpuBackend final : public EvaluatorBackend {
 public:
  static constexpr std::uint32_t flags = KRL_THREAD_SAFE | KRL_DETERMINISTIC;

  std::string gpu = "Jetson Orin Nano";
  double timeout = 30, memory_mb = 8192;
  std::int64_t runs_per_case = 2, work_limit = 50'000'000;

  static constexpr auto config = std::tuple_cat(
      krl::config(
          opt("gpu", &CpuBackend::gpu, "the GPU for which times are estimated").one_of(kGpuNames),
          opt("timeout", &CpuBackend::timeout, "time limit of all runs of an evaluation, seconds")
              .range(0.1, 3600),
          opt("memory_mb", &CpuBackend::memory_mb,
              "maximum address space of the process that runs a kernel, MiB")
              .range(256, 1048576),
          opt("work_limit", &CpuBackend::work_limit,
              "number of machine steps after which a run is considered endless, unless the naive kernel "
              "takes a 64th of that or more")
              .at_least(1000),
          opt("runs_per_case", &CpuBackend::runs_per_case,
              "number of checked runs per case, with different seeds, distributions and orders")
              .range(1, 16)),
      shared_options);

  CpuBackend() : EvaluatorBackend("cpu") {}

  void start(const Config&, const Context& context) override {
    const Installation installation = find_installation();
    auto executor =
        std::make_unique<CpuExecutor>(CpuSettings{gpu, milliseconds(timeout), mebibytes(memory_mb),
                                                  static_cast<std::uint64_t>(work_limit)},
                                      installation);
    const CompileSettings settings = compile_settings(executor->arch());
    CudaCompiler compiler = nvrtc::nvrtc_compiler(settings, installation.files);
    compiler.add(Language::kTriton, triton::triton_front_end(settings, installation.files));
    // Small sizes: an emulator has no time for more.
    evaluator_ = std::make_unique<Evaluator>(evaluator_settings(Sizes::kSmall, runs_per_case),
                                             std::move(compiler), std::move(executor));
    require_sandbox(probe_sandbox(installation.launcher), sandbox, context);
  }

  BackendInfo describe() override {
    return {at_a_time(),
            KRL_SIGNAL_COMPILE | KRL_SIGNAL_CORRECTNESS | KRL_SIGNAL_TIME | KRL_SIGNAL_REGISTERS |
                KRL_SIGNAL_OCCUPANCY | KRL_SIGNAL_SHARED_MEMORY | KRL_SIGNAL_INSTRUCTIONS |
                KRL_SIGNAL_MEMORY,
            evaluator_->toolchain(), evaluator_->device()};
  }
};

}  // namespace
}  // namespace krl::cpu

KRL_PLUGIN("cpu", "1.0.0",
           krl::backend<krl::cpu::CpuBackend>(
               "cpu", "Compiles with NVRTC, executes PTX: checks, counters and estimated time"))
