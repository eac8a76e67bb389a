// The backend of every compiler of CUDA on this machine: its options, and how its GPUs are started. A
// plugin derives from it, names itself in its constructor, and makes its compiler. Its `config` is
// `cuda_options()`, after options of its own if it has some.
#pragma once

#include <string>
#include <tuple>

#include "plugins/backends/cuda/gpu/gpu_start.hpp"
#include "plugins/backends/cuda/gpu_executor.hpp"
#include "plugins/backends/evaluator/evaluator_backend.hpp"
#include "plugins/process/installed_files.hpp"

namespace krl::cuda {

class CudaBackend : public evaluator::EvaluatorBackend {
 public:
  static constexpr std::uint32_t flags = KRL_THREAD_SAFE;

  std::string execute = "on", gpus, reference = "auto", counters = "off", baseline = "naive";
  std::string sizes = "real", baseline_folder, allow_libraries, arch, compiler_flags;
  double run_timeout = 10, arena_mb = 0, memory_mb = 4096;
  std::int64_t runs_per_case = 5;

  static constexpr auto cuda_options(
      const char* memory = "maximum address space of a compile, MiB") {
    return std::tuple_cat(
        krl::config(
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
            opt("memory_mb", &CudaBackend::memory_mb, memory).range(512, 1048576)),
        shared_options);
  }

  void start(const Config&, const Context& context) final;
  BackendInfo describe() final;

 protected:
  using evaluator::EvaluatorBackend::EvaluatorBackend;

  virtual evaluator::CudaCompiler make_compiler(const evaluator::CompileSettings& settings,
                                                const process::InstalledFiles& files) const = 0;

 private:
  evaluator::CompileSettings compile_settings() const;
  std::string wanted_ncu() const;
  GpuSettings gpu_settings(const std::string& ncu) const;
  evaluator::Sizes chosen_sizes() const {
    return sizes == "real" ? evaluator::Sizes::kReal : evaluator::Sizes::kSmall;
  }
  GpuExecutorSettings executor_settings() const;

  std::uint32_t gpus_in_use_ = 0;
  bool is_counting_ = false;
};

}  // namespace krl::cuda
