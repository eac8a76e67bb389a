#include "core/episode/judge.hpp"

#include <fmt/format.h>

#include "core/base/log.hpp"

namespace krl::core {
namespace {

std::string identity_of(const Backend& backend) {
  return fmt::format("{}\n{}\n{}", backend.component().id, backend.info().toolchain,
                     backend.info().device);
}

// Once more after an error that is neither the user's stop nor has been retried already.
Result<Evaluation> evaluate_with_retry(const Backend& backend, const Task& task,
                                       const std::string& source, const EvaluateOptions& options) {
  Result<Evaluation> evaluation = backend.evaluate(task, source, options);
  if (evaluation) return evaluation;
  const Error& error = evaluation.error();
  if (error.code == Code::kCancelled || error.code == Code::kUnavailable) return evaluation;
  log(Severity::kWarning, fmt::format("{}: retried after: {}", task.id, error.message));
  return backend.evaluate(task, source, options);
}

bool is_fault(Verdict verdict) {
  return verdict == Verdict::kRuntimeFault || verdict == Verdict::kWrongResult ||
         verdict == Verdict::kNondeterministic;
}

}  // namespace

std::string Judge::identity() const {
  std::string text = identity_of(*backend_);
  if (sanitizer_ != nullptr) text += "\n" + identity_of(*sanitizer_);
  return text;
}

Status Judge::prepare(const Task& task, const EvaluateOptions& options) const {
  KRL_TRY(backend_->prepare(task, options));
  return sanitizer_ != nullptr ? sanitizer_->prepare(task, options) : Status();
}

Result<Evaluation> Judge::evaluate(const Task& task, const std::string& source,
                                   const EvaluateOptions& options) const {
  KRL_ASSIGN(Evaluation found, evaluate_with_retry(*backend_, task, source, options));
  if (sanitizer_ == nullptr || !found.passed()) return found;
  return sanitize(task, source, options, std::move(found));
}

Result<Evaluation> Judge::sanitize(const Task& task, const std::string& source,
                                   EvaluateOptions options, Evaluation passed) const {
  options.stages &= ~(KRL_STAGE_TIME | KRL_STAGE_COUNTERS);
  KRL_ASSIGN(Evaluation found, evaluate_with_retry(*sanitizer_, task, source, options));
  const bool refused = is_fault(found.verdict), executed = refused || found.passed();
  // Figures of the compile for the real target.
  if (refused) found.kernels = std::move(passed.kernels);
  Evaluation& judged = refused ? found : passed;
  if (executed) judged.values.push_back({-1, kUnsafe, "", refused ? 1.0 : 0.0});
  judged.values.push_back({-1, kUnsanitized, "", executed ? 0.0 : 1.0});
  return std::move(judged);
}

}  // namespace krl::core
