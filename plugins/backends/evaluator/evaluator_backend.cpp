#include "plugins/backends/evaluator/evaluator_backend.hpp"

#include <algorithm>
#include <thread>

#include "plugins/files/disk_cache.hpp"

namespace krl::evaluator {

void EvaluatorBackend::prepare(const Task& task, const EvaluateOptions& options,
                               const Context& context) {
  evaluator_->prepare(task.definition_json(), options.seed, [&] { return context.cancelled(); });
}

void EvaluatorBackend::evaluate(const Candidate& candidate, const EvaluateOptions& options,
                                const EvaluationSink& sink, const Context& context) {
  if (candidate.host_contract() && !evaluator_->takes_host()) {
    sink.verdict(Verdict::kRejected, std::string("unsupported on ") + name_ +
                                         ": candidates with their own host code (contract host)");
    return;
  }
  const EvaluationRequest request{candidate.task().definition_json(), candidate.source(),
                                  options.stages, options.seed, candidate.host_contract()};
  sink.push(evaluator_->evaluate(request, [&] { return context.cancelled(); }));
}

std::uint32_t EvaluatorBackend::at_a_time() const {
  if (concurrency > 0) return static_cast<std::uint32_t>(concurrency);
  return std::max(1u, std::thread::hardware_concurrency());
}

Protocol EvaluatorBackend::chosen_protocol() const {
  return protocol == "kernelbench" ? Protocol::kKernelBench : Protocol::kKernelrl;
}

CompileSettings EvaluatorBackend::compile_settings(std::string arch) const {
  CompileSettings settings;
  settings.arch = std::move(arch);
  settings.cuda = cuda;
  settings.triton = triton;
  settings.compile_limit = milliseconds(compile_timeout);
  settings.at_a_time = static_cast<int>(at_a_time());
  return settings;
}

EvaluatorSettings EvaluatorBackend::evaluator_settings(Sizes sizes,
                                                       std::int64_t runs_per_case) const {
  return {sizes, chosen_protocol(), static_cast<std::size_t>(runs_per_case),
          files::cache_folder_of(cache), mebibytes(cache_mb)};
}

std::chrono::milliseconds EvaluatorBackend::milliseconds(double seconds) {
  return std::chrono::milliseconds(static_cast<std::int64_t>(seconds * 1000));
}

std::uint64_t EvaluatorBackend::mebibytes(double n) {
  return static_cast<std::uint64_t>(n * 1024 * 1024);
}

}  // namespace krl::evaluator
