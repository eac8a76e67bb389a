// The `nvrtc` backend: kernels compiled by NVRTC for a GPU that need not be there. It does not run
// them yet.
#include <kernelrl/sdk.hpp>
#include <memory>
#include <sstream>
#include <thread>

#include "plugins/backends/cuda/cuda_evaluator.hpp"
#include "plugins/backends/nvrtc/nvrtc_compiler.hpp"

namespace krl {
namespace {

constexpr double kMebibyte = 1024 * 1024;

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

class NvrtcBackend final : public Backend {
 public:
  static constexpr std::uint32_t flags = KRL_THREAD_SAFE | KRL_DETERMINISTIC;

  std::string execute = "on", arch, compiler_flags, cuda, cache;
  double compile_timeout = 10, memory_mb = 4096, cache_mb = 1024;
  std::int64_t concurrency = 0;

  static constexpr auto config = krl::config(
      opt("execute", &NvrtcBackend::execute,
          "off: compile only, for what compiled code says of a kernel; on: not built yet")
          .one_of("on|off"),
      opt("arch", &NvrtcBackend::arch, "the architecture to compile for, \"sm_90\"").required(),
      opt("flags", &NvrtcBackend::compiler_flags, "more options of NVRTC's, between blanks"),
      opt("cuda", &NvrtcBackend::cuda,
          "folder of the CUDA toolkit, or NVRTC's library; empty = the usual places"),
      opt("compile_timeout", &NvrtcBackend::compile_timeout, "seconds that a compile may take")
          .range(0.1, 3600),
      opt("memory_mb", &NvrtcBackend::memory_mb, "address space of a compile, MiB")
          .range(512, 1048576),
      opt("concurrency", &NvrtcBackend::concurrency,
          "compiles at a time; 0 = one for each processor core")
          .range(0, 1024),
      opt("cache", &NvrtcBackend::cache,
          "folder that keeps evaluations; empty = the user's cache folder, \"off\" = none"),
      opt("cache_mb", &NvrtcBackend::cache_mb, "the most that the cache folder may hold, MiB")
          .range(1, 1048576));

  void start(const Config&, const Context&) override {
    if (execute == "on") {
      throw Failure(KRL_UNIMPLEMENTED,
                    "the nvrtc backend cannot run kernels yet; execute = \"off\" compiles them and "
                    "gives registers, spills, shared memory and occupancy");
    }
    NvrtcSettings settings;
    settings.arch = arch;
    settings.flags = words_of(compiler_flags);
    settings.cuda = cuda;
    settings.compile_limit =
        std::chrono::milliseconds(static_cast<std::int64_t>(compile_timeout * 1000));
    settings.memory_bytes = static_cast<std::uint64_t>(memory_mb * kMebibyte);
    const CudaSettings evaluation{cache_folder_of(cache),
                                  static_cast<std::uint64_t>(cache_mb * kMebibyte)};
    evaluator_ = std::make_unique<CudaEvaluator>(nvrtc_compiler(settings), evaluation);
  }

  BackendInfo describe() override {
    const unsigned cores = std::max(1u, std::thread::hardware_concurrency());
    return {
        concurrency > 0 ? static_cast<std::uint32_t>(concurrency) : cores,
        KRL_SIGNAL_COMPILE | KRL_SIGNAL_REGISTERS | KRL_SIGNAL_SHARED_MEMORY | KRL_SIGNAL_OCCUPANCY,
        evaluator_->toolchain(), evaluator_->device()};
  }

  void prepare(const Task& task, const EvaluateOptions& options, const Context& context) override {
    const EvaluationRequest request{task.definition_json(), {}, options.stages, options.seed};
    evaluator_->prepare(request, [&] { return context.cancelled(); });
  }

  void evaluate(const Candidate& candidate, const EvaluateOptions& options,
                const EvaluationSink& sink, const Context& context) override {
    if (candidate.host_contract()) {
      sink.verdict(KRL_VERDICT_REJECTED,
                   "unsupported on nvrtc: a launcher of one's own (contract host)");
      return;
    }
    const EvaluationRequest request{candidate.task().definition_json(), candidate.source(),
                                    options.stages, options.seed};
    push(evaluator_->evaluate(request, [&] { return context.cancelled(); }), sink);
  }

 private:
  std::unique_ptr<CudaEvaluator> evaluator_;
};

}  // namespace
}  // namespace krl

KRL_PLUGIN("nvrtc", "1.0.0",
           krl::backend<krl::NvrtcBackend>(
               "nvrtc", "Compiles with NVRTC: registers, spills, shared memory, occupancy"))
