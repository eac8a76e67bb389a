// The backend component of every compiler of CUDA on this machine: its options, and the way from
// the host's calls to the evaluator. A plugin adds the compiler:
//
//   struct Nvcc {
//     static constexpr const char* name = "nvcc";  // as plans and messages call it
//     static CudaCompiler compiler(const CompileSettings& settings, const InstalledFiles& files);
//   };
//   KRL_PLUGIN("nvcc", "1.0.0", krl::backend<krl::CudaBackend<krl::Nvcc>>("nvcc", "…"))
#pragma once

#include <algorithm>
#include <kernelrl/sdk.hpp>
#include <memory>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "plugins/backends/cuda/compile_settings.hpp"
#include "plugins/backends/cuda/cuda_evaluator.hpp"
#include "plugins/backends/evaluator/installed_files.hpp"

namespace krl {

template <class Tool>
class CudaBackend final : public Backend {
 public:
  static constexpr std::uint32_t flags = KRL_THREAD_SAFE | KRL_DETERMINISTIC;

  std::string execute = "on", arch, compiler_flags, cuda, cache;
  double compile_timeout = 10, memory_mb = 4096, cache_mb = 1024;
  std::int64_t concurrency = 0;

  static constexpr auto config = krl::config(
      opt("execute", &CudaBackend::execute,
          "off: compile only, for what compiled code says of a kernel; on: not built yet")
          .one_of("on|off"),
      opt("arch", &CudaBackend::arch, "the architecture to compile for, \"sm_90\"").required(),
      opt("flags", &CudaBackend::compiler_flags, "more options of the compiler's, between blanks"),
      opt("cuda", &CudaBackend::cuda,
          "folder of the CUDA toolkit, or the compiler's file; empty = the usual places"),
      opt("compile_timeout", &CudaBackend::compile_timeout, "seconds that a compile may take")
          .range(0.1, 3600),
      opt("memory_mb", &CudaBackend::memory_mb, "address space of a compile, MiB")
          .range(512, 1048576),
      opt("concurrency", &CudaBackend::concurrency,
          "compiles at a time; 0 = one for each processor core")
          .range(0, 1024),
      opt("cache", &CudaBackend::cache,
          "folder that keeps evaluations; empty = the user's cache folder, \"off\" = none"),
      opt("cache_mb", &CudaBackend::cache_mb, "the most that the cache folder may hold, MiB")
          .range(1, 1048576));

  void start(const Config&, const Context&) override {
    if (execute == "on") {
      throw Failure(KRL_UNIMPLEMENTED,
                    std::string("the ") + Tool::name +
                        " backend cannot run kernels yet; execute = \"off\" compiles them and "
                        "gives registers, spills, shared memory, occupancy and instructions");
    }
    const InstalledFiles files(reinterpret_cast<const void*>(&Tool::compiler),
                               std::string("the ") + Tool::name + " backend");
    evaluator_ = std::make_unique<CudaEvaluator>(
        Tool::compiler(compile_settings(), files),
        CudaSettings{cache_folder_of(cache), static_cast<std::uint64_t>(cache_mb * kMebibyte)});
  }

  BackendInfo describe() override {
    const unsigned cores = std::max(1u, std::thread::hardware_concurrency());
    return {concurrency > 0 ? static_cast<std::uint32_t>(concurrency) : cores,
            KRL_SIGNAL_COMPILE | KRL_SIGNAL_REGISTERS | KRL_SIGNAL_SHARED_MEMORY |
                KRL_SIGNAL_OCCUPANCY | KRL_SIGNAL_INSTRUCTIONS,
            evaluator_->toolchain(), evaluator_->device()};
  }

  void prepare(const Task& task, const EvaluateOptions& options, const Context& context) override {
    const EvaluationRequest request{task.definition_json(), {}, options.stages, options.seed};
    evaluator_->prepare(request, [&] { return context.cancelled(); });
  }

  void evaluate(const Candidate& candidate, const EvaluateOptions& options,
                const EvaluationSink& sink, const Context& context) override {
    if (candidate.host_contract()) {
      sink.verdict(KRL_VERDICT_REJECTED, std::string("unsupported on ") + Tool::name +
                                             ": a launcher of one's own (contract host)");
      return;
    }
    const EvaluationRequest request{candidate.task().definition_json(), candidate.source(),
                                    options.stages, options.seed};
    push(evaluator_->evaluate(request, [&] { return context.cancelled(); }), sink);
  }

 private:
  static constexpr double kMebibyte = 1024 * 1024;

  CompileSettings compile_settings() const {
    CompileSettings settings;
    settings.arch = arch;
    std::istringstream words(compiler_flags);
    for (std::string word; words >> word;) settings.flags.push_back(word);
    settings.cuda = cuda;
    settings.compile_limit =
        std::chrono::milliseconds(static_cast<std::int64_t>(compile_timeout * 1000));
    settings.memory_bytes = static_cast<std::uint64_t>(memory_mb * kMebibyte);
    return settings;
  }

  std::unique_ptr<CudaEvaluator> evaluator_;
};

}  // namespace krl
