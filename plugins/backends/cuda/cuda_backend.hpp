// The backend component of every compiler of CUDA on this machine: its options, and the way from
// the host's calls to the evaluator. A plugin adds the compiler:
//
//   struct Nvcc {
//     static constexpr const char* name = "nvcc";  // as plans and messages call it
//     static CudaCompiler compiler(const CompileSettings& settings, const InstalledFiles& files);
//   };
//   KRL_PLUGIN("nvcc", "1.0.0", krl::backend<krl::cuda::CudaBackend<krl::nvcc::Nvcc>>("nvcc", "…"))
//
// A compiler with its own options has them as members:
//
//   std::string image = "kernelrl-worker";
//   static constexpr auto options = krl::config(opt("image", &Docker::image, "…"));
//   CudaCompiler compiler(const CompileSettings& settings, const InstalledFiles& files) const;
//
// `static constexpr CompileMemory memory` says what its option memory_mb means; `static constexpr
// bool takes_host = true`, that its compilers have a compile_library.
#pragma once

#include <algorithm>
#include <kernelrl/sdk.hpp>
#include <memory>
#include <sstream>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "plugins/backends/cuda/gpu/gpu_start.hpp"
#include "plugins/backends/cuda/gpu/ncu/ncu_search.hpp"
#include "plugins/backends/cuda/gpu_executor.hpp"
#include "plugins/backends/evaluator/compile/compile_settings.hpp"
#include "plugins/backends/evaluator/installed_files.hpp"
#include "plugins/backends/evaluator/sandbox/sandbox.hpp"
#include "plugins/files/disk_cache.hpp"

namespace krl::cuda {

template <class Tool>
constexpr auto options_of_tool() {
  if constexpr (requires { Tool::options; }) {
    return Tool::options;
  } else {
    return config();
  }
}

template <class Tool>
constexpr CompileMemory memory_of_tool() {
  if constexpr (requires { Tool::memory; }) {
    return Tool::memory;
  } else {
    return {};
  }
}

template <class Tool>
constexpr bool takes_host() {
  if constexpr (requires { Tool::takes_host; }) {
    return Tool::takes_host;
  } else {
    return false;
  }
}

template <class Tool>
class CudaBackend final : public Backend, public Tool {
 public:
  static constexpr std::uint32_t flags =
      KRL_THREAD_SAFE | (krl::cuda::takes_host<Tool>() ? KRL_TAKES_HOST : 0u);

  std::string execute = "on", gpus, reference = "auto", counters = "off", baseline = "naive";
  std::string sizes = "real", protocol = "kernelrl", sandbox = "available";
  std::string baseline_folder, allow_libraries;
  std::string arch, compiler_flags, cuda, cache;
  double compile_timeout = 10, run_timeout = 10, arena_mb = 0, cache_mb = 1024;
  double memory_mb = memory_of_tool<Tool>().default_mb;
  std::int64_t concurrency = 0, runs_per_case = 5;

  static constexpr auto common_options = krl::config(
      opt("execute", &CudaBackend::execute,
          "off: only compile, and report properties of the compiled code; needs no GPU")
          .one_of("on|off"),
      opt("gpus", &CudaBackend::gpus, "indices of the GPUs to use, \"0,1\"; empty = all"),
      opt("runs_per_case", &CudaBackend::runs_per_case,
          "number of checked runs of a kernel per case, each with different inputs")
          .range(1, 100),
      opt("sizes", &CudaBackend::sizes,
          "real: tasks with real sizes are timed at these and checked at all sizes; small: real sizes are not used")
          .one_of("real|small"),
      opt("protocol", &CudaBackend::protocol, kProtocolMeaning).one_of(kProtocolChoices),
      opt("run_timeout", &CudaBackend::run_timeout,
          "time limit of a single run of a kernel, seconds; at most 1 s + 100 times the naive kernel's time if the task has one")
          .range(0.1, 3600),
      opt("arena_mb", &CudaBackend::arena_mb,
          "GPU memory for a kernel's buffers, MiB; 0 = 1/16 of the GPU's, at most 4096; for "
          "small sizes 1/32, at most 1024")
          .range(0, 1048576),
      opt("reference", &CudaBackend::reference,
          "where a task's reference is computed: auto = on the GPU if libtorch can, cuda, cpu")
          .one_of("auto|cuda|cpu"),
      opt("baseline", &CudaBackend::baseline,
          "the baseline of speedups: naive = the task's naive kernel, reference = its "
          "reference in PyTorch on the same GPU")
          .one_of("naive|reference"),
      opt("baseline_folder", &CudaBackend::baseline_folder,
          "folder with kernels TASK.cu to use as baselines instead of the naive ones; empty = "
          "none")
          .path(),
      opt("allow_libraries", &CudaBackend::allow_libraries,
          "libraries that host code may open with dlopen, by name, \"cublas,cublasLt\"; empty = none"),
      opt("counters", &CudaBackend::counters,
          "hardware counters of correct kernels: off; auto = with CUPTI, if the machine permits it; ncu = with Nsight Compute, which provides more counters and takes seconds per kernel")
          .one_of("auto|ncu|off"),
      opt("arch", &CudaBackend::arch,
          "the architecture to compile for, \"sm_90\"; empty = the GPU's, \"sm_90a\""),
      opt("flags", &CudaBackend::compiler_flags,
          "additional compiler options, separated by spaces"),
      opt("cuda", &CudaBackend::cuda,
          "folder of the CUDA toolkit, or the compiler; empty = the usual places"),
      opt("compile_timeout", &CudaBackend::compile_timeout, "time limit of a compile, seconds")
          .range(0.1, 3600),
      opt("memory_mb", &CudaBackend::memory_mb, memory_of_tool<Tool>().meaning).range(512, 1048576),
      opt("concurrency", &CudaBackend::concurrency,
          "concurrent compiles; 0 = one per processor core")
          .range(0, 1024),
      opt("sandbox", &CudaBackend::sandbox, kSandboxMeaning).one_of(kSandboxChoices),
      opt("cache", &CudaBackend::cache,
          "folder for cached evaluations; empty = the user's cache folder, \"off\" = none"),
      opt("cache_mb", &CudaBackend::cache_mb, "maximum size of the cache folder, MiB")
          .range(1, 1048576));
  static constexpr auto config = std::tuple_cat(options_of_tool<Tool>(), common_options);

  void start(const Config&, const Context& context) override {
    const InstalledFiles files(Tool::name, std::string("the ") + Tool::name + " backend");
    require_sandbox(probe_sandbox(files.worker("kernelrl-sandbox")), sandbox, context);
    CompileSettings settings = compile_settings();
    const std::string ncu = counters == "ncu" ? wanted_ncu() : "";
    std::vector<gpu::GpuDescription> chosen;
    if (execute == "on") chosen = choose_gpus(gpus, files);
    if (settings.arch.empty() && chosen.empty()) {
      invalid_argument("arch: required with execute = \"off\", for example \"sm_90\"");
    }
    if (settings.arch.empty()) settings.arch = require_arch(chosen.front().arch).full_arch();
    CudaCompiler compiler = Tool::compiler(settings, files);
    std::unique_ptr<GpuPool> pool;
    if (!chosen.empty()) pool = start_gpus(chosen, compiler, gpu_settings(ncu), files);
    auto executor =
        std::make_unique<GpuExecutor>(executor_settings(), compiler.arch, std::move(pool));
    gpus_in_use_ = static_cast<std::uint32_t>(executor->gpus());
    const std::string problem = executor->counters_problem();
    is_counting_ = problem.empty();
    evaluator_ =
        std::make_unique<Evaluator>(evaluator_settings(), std::move(compiler), std::move(executor));
    if (counters == "ncu" && !problem.empty()) {
      throw Failure(KRL_FAILED_PRECONDITION, "counters = \"ncu\": " + problem);
    }
    if (counters == "auto" && !chosen.empty() && !problem.empty()) {
      context.warning(
          "no hardware counters, and therefore no memory signal; everything else works: " +
          problem);
    }
  }

  BackendInfo describe() override {
    const std::uint32_t counted = is_counting_ ? KRL_SIGNAL_MEMORY : 0u;
    const std::uint32_t executed = KRL_SIGNAL_CORRECTNESS | KRL_SIGNAL_TIME | counted;
    // While kernels run, others are compiled.
    const std::uint32_t at_a_time = compiles_at_a_time() + (concurrency > 0 ? 0 : gpus_in_use_);
    return {at_a_time,
            KRL_SIGNAL_COMPILE | KRL_SIGNAL_REGISTERS | KRL_SIGNAL_SHARED_MEMORY |
                KRL_SIGNAL_OCCUPANCY | KRL_SIGNAL_INSTRUCTIONS | (gpus_in_use_ > 0 ? executed : 0u),
            evaluator_->toolchain(), evaluator_->device(),
            chosen_sizes() == Sizes::kReal ? KRL_BACKEND_REAL_SIZES : 0u};
  }

  void prepare(const Task& task, const EvaluateOptions& options, const Context& context) override {
    evaluator_->prepare(task.definition_json(), options.seed, [&] { return context.cancelled(); });
  }

  void evaluate(const Candidate& candidate, const EvaluateOptions& options,
                const EvaluationSink& sink, const Context& context) override {
    if (candidate.host_contract() && !evaluator_->takes_host()) {
      sink.verdict(Verdict::kRejected, std::string("unsupported on ") + Tool::name +
                                           ": candidates with their own host code (contract host)");
      return;
    }
    const EvaluationRequest request{candidate.task().definition_json(), candidate.source(),
                                    options.stages, options.seed, candidate.host_contract()};
    sink.push(evaluator_->evaluate(request, [&] { return context.cancelled(); }));
  }

 private:
  static constexpr double kMebibyte = 1024 * 1024;

  std::uint32_t compiles_at_a_time() const {
    if (concurrency > 0) return static_cast<std::uint32_t>(concurrency);
    return std::max(1u, std::thread::hardware_concurrency());
  }

  CompileSettings compile_settings() const {
    CompileSettings settings;
    settings.arch = arch;
    std::istringstream words(compiler_flags);
    for (std::string word; words >> word;) settings.flags.push_back(word);
    settings.cuda = cuda;
    settings.compile_limit =
        std::chrono::milliseconds(static_cast<std::int64_t>(compile_timeout * 1000));
    settings.memory_bytes = static_cast<std::uint64_t>(memory_mb * kMebibyte);
    settings.at_a_time = static_cast<int>(compiles_at_a_time());
    return settings;
  }

  // Runs before the GPUs are waited for, since waiting cannot find a missing installation.
  std::string wanted_ncu() const {
    if (execute == "on") return find_ncu();
    invalid_argument("counters: \"ncu\" profiles running kernels, but execute is \"off\"");
  }

  GpuSettings gpu_settings(const std::string& ncu) const {
    GpuSettings settings;
    settings.reference = reference;
    settings.arena_bytes = static_cast<std::uint64_t>(arena_mb * kMebibyte);
    settings.sizes = chosen_sizes();
    settings.counters = counters != "off";
    settings.ncu = ncu;
    settings.libraries = allow_libraries;
    settings.run_limit = std::chrono::milliseconds(static_cast<std::int64_t>(run_timeout * 1000));
    return settings;
  }

  Sizes chosen_sizes() const { return sizes == "real" ? Sizes::kReal : Sizes::kSmall; }

  EvaluatorSettings evaluator_settings() const {
    return {chosen_sizes(), protocol_named(protocol), static_cast<std::size_t>(runs_per_case),
            files::cache_folder_of(cache), static_cast<std::uint64_t>(cache_mb * kMebibyte)};
  }

  GpuExecutorSettings executor_settings() const {
    GpuExecutorSettings settings;
    settings.libraries = allow_libraries;
    settings.baseline.reference =
        baseline == "reference" || protocol_named(protocol) == Protocol::kKernelBench;
    if (!baseline_folder.empty()) settings.baseline.kernels = baselines_in(baseline_folder);
    return settings;
  }

  std::unique_ptr<Evaluator> evaluator_;
  std::uint32_t gpus_in_use_ = 0;
  bool is_counting_ = false;
};

}  // namespace krl::cuda
