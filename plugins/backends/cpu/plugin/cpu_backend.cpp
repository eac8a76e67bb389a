// The `cpu` backend: kernels compiled by NVRTC, executed by a machine for PTX, checked against
// libtorch; no GPU. Heavy work starts in start(): describing the plugin costs nothing.
#include <kernelrl/sdk.hpp>
#include <thread>

#include "plugins/backends/cpu/plugin/cpu_executor.hpp"
#include "plugins/backends/nvrtc/nvrtc_compiler.hpp"
#include "plugins/files/disk_cache.hpp"

namespace krl::cpu {
namespace {

constexpr double kMebibyte = 1024 * 1024;

class CpuBackend final : public Backend {
 public:
  static constexpr std::uint32_t flags = KRL_THREAD_SAFE | KRL_DETERMINISTIC;

  std::string gpu = "Jetson Orin Nano", cuda;
  double compile_timeout = 10, timeout = 30, memory_mb = 8192;
  std::string cache, protocol = "kernelrl", sandbox = "available";
  double cache_mb = 1024;
  std::int64_t concurrency = 0, runs_per_case = 2, work_limit = 50'000'000;

  static constexpr auto config = krl::config(
      opt("gpu", &CpuBackend::gpu, "the GPU for which times are estimated").one_of(kGpuNames),
      opt("compile_timeout", &CpuBackend::compile_timeout, "time limit of a compile, seconds")
          .range(0.1, 3600),
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
          .range(1, 16),
      opt("protocol", &CpuBackend::protocol, kProtocolMeaning).one_of(kProtocolChoices),
      opt("cuda", &CpuBackend::cuda,
          "folder of the CUDA toolkit, or the NVRTC library; empty = the usual places"),
      opt("concurrency", &CpuBackend::concurrency,
          "concurrent evaluations; 0 = one per processor core")
          .range(0, 1024),
      opt("sandbox", &CpuBackend::sandbox, kSandboxMeaning).one_of(kSandboxChoices),
      opt("cache", &CpuBackend::cache,
          "folder for cached evaluations; empty = the user's cache folder, \"off\" = none"),
      opt("cache_mb", &CpuBackend::cache_mb, "maximum size of the cache folder, MiB")
          .range(1, 1048576));

  void start(const Config&, const Context& context) override {
    const Installation installation = find_installation();
    auto executor = std::make_unique<CpuExecutor>(
        CpuSettings{gpu, milliseconds(timeout), static_cast<std::uint64_t>(memory_mb * kMebibyte),
                    static_cast<std::uint64_t>(work_limit)},
        installation);
    CompileSettings compile;
    compile.arch = executor->arch();
    compile.cuda = cuda;
    compile.compile_limit = milliseconds(compile_timeout);
    // Small sizes: an emulator has no time for more.
    const EvaluatorSettings settings{
        Sizes::kSmall, protocol_named(protocol), static_cast<std::size_t>(runs_per_case),
        files::cache_folder_of(cache), static_cast<std::uint64_t>(cache_mb * kMebibyte)};
    evaluator_ = std::make_unique<Evaluator>(
        settings, nvrtc::nvrtc_compiler(compile, installation.files), std::move(executor));
    require_sandbox(probe_sandbox(installation.launcher), sandbox, context);
  }

  BackendInfo describe() override {
    const unsigned cores = std::max(1u, std::thread::hardware_concurrency());
    return {concurrency > 0 ? static_cast<std::uint32_t>(concurrency) : cores,
            KRL_SIGNAL_COMPILE | KRL_SIGNAL_CORRECTNESS | KRL_SIGNAL_TIME | KRL_SIGNAL_REGISTERS |
                KRL_SIGNAL_OCCUPANCY | KRL_SIGNAL_SHARED_MEMORY | KRL_SIGNAL_INSTRUCTIONS |
                KRL_SIGNAL_MEMORY,
            evaluator_->toolchain(), evaluator_->device()};
  }

  void prepare(const Task& task, const EvaluateOptions& options, const Context& context) override {
    evaluator_->prepare(task.definition_json(), options.seed, [&] { return context.cancelled(); });
  }

  void evaluate(const Candidate& candidate, const EvaluateOptions& options,
                const EvaluationSink& sink, const Context& context) override {
    if (candidate.host_contract()) {
      sink.verdict(Verdict::kRejected,
                   "unsupported on cpu: candidates with their own host code (contract host)");
      return;
    }
    const EvaluationRequest request{candidate.task().definition_json(), candidate.source(),
                                    options.stages, options.seed};
    sink.push(evaluator_->evaluate(request, [&] { return context.cancelled(); }));
  }

 private:
  static std::chrono::milliseconds milliseconds(double seconds) {
    return std::chrono::milliseconds(static_cast<std::int64_t>(seconds * 1000));
  }

  std::unique_ptr<Evaluator> evaluator_;
};

}  // namespace
}  // namespace krl::cpu

KRL_PLUGIN("cpu", "1.0.0",
           krl::backend<krl::cpu::CpuBackend>(
               "cpu", "Compiles with NVRTC, executes PTX: checks, counters and estimated time"))
