#include "core/episode/judge.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <mutex>
#include <set>

#include "core/base/log.hpp"
#include "core/episode/cascade_costs.hpp"

namespace krl::core {
namespace {

std::string identity_of(const Backend& backend) {
  return fmt::format("{}\n{}\n{}", backend.component().id, backend.info().toolchain,
                     backend.info().device);
}

// Once more after an error that is neither the user's stop nor has been retried already.
Result<Evaluation> evaluate_with_retry(const Backend& backend, const Task& task,
                                       const std::string& source, const EvaluateOptions& options,
                                       double* took_ms = nullptr) {
  Result<Evaluation> evaluation = backend.evaluate(task, source, options, took_ms);
  if (evaluation) return evaluation;
  const Error& error = evaluation.error();
  if (error.code == Code::kCancelled || error.code == Code::kUnavailable) return evaluation;
  log(Severity::kWarning, fmt::format("{}: retried after: {}", task.id, error.message));
  return backend.evaluate(task, source, options, took_ms);
}

bool is_fault(Verdict verdict) {
  return verdict == Verdict::kRuntimeFault || verdict == Verdict::kWrongResult ||
         verdict == Verdict::kNondeterministic;
}

// True if what a backend says before the backend's turn is final.
bool refuses(const Backend& backend, Verdict verdict) {
  const bool executes = (backend.info().signals & KRL_SIGNAL_CORRECTNESS) != 0;
  return is_fault(verdict) || (!executes && verdict == Verdict::kCompileError);
}

EvaluateOptions without_times(EvaluateOptions options) {
  options.stages &= ~(KRL_STAGE_TIME | KRL_STAGE_COUNTERS);
  return options;
}

}  // namespace

class Judge::Durations {
 public:
  void add(double ms) {
    const std::lock_guard lock(mutex_);
    ++count_;
    sum_ += ms;
  }
  // NaN if there were none.
  double mean() const {
    const std::lock_guard lock(mutex_);
    return count_ == 0 ? kUnknown : sum_ / count_;
  }

 private:
  mutable std::mutex mutex_;  // guards the members below
  double count_ = 0, sum_ = 0;
};

Result<JudgeBackends> open_backends(const BackendSettings& settings, Components& components) {
  JudgeBackends opened;
  for (const ComponentSettings& one : settings.before) {
    KRL_ASSIGN(const Backend* before, components.backend(one));
    opened.before.push_back(before);
  }
  KRL_ASSIGN(opened.backend, components.backend(settings));
  if (settings.sanitizer) {
    KRL_ASSIGN(opened.sanitizer, components.backend(*settings.sanitizer));
  }
  return opened;
}

Judge::Judge(const JudgeBackends& backends)
    : backends_(backends),
      info_(backends.backend->info()),
      durations_(std::make_shared<Durations>()) {
  std::multiset<std::string> ids;
  const auto name = [&](const Backend& backend) {
    const std::string& id = backend.component().id;
    ids.insert(id);
    const std::size_t n = ids.count(id);
    names_.push_back(cost_name(n == 1 ? id : fmt::format("{}_{}", id, n)));
  };
  for (const Backend* before : backends.before) {
    name(*before);
    info_.concurrency = std::max(info_.concurrency, before->info().concurrency);
  }
  name(*backends.backend);
}

std::string Judge::identity() const {
  std::string text;
  for (const Backend* before : backends_.before) text += "before " + identity_of(*before) + "\n";
  text += identity_of(*backends_.backend);
  if (backends_.sanitizer != nullptr) text += "\n" + identity_of(*backends_.sanitizer);
  return text;
}

Status Judge::prepare(const Task& task, const EvaluateOptions& options) const {
  for (const Backend* before : backends_.before) KRL_TRY(before->prepare(task, options));
  KRL_TRY(backends_.backend->prepare(task, options));
  return backends_.sanitizer != nullptr ? backends_.sanitizer->prepare(task, options) : Status();
}

Result<Evaluation> Judge::evaluate(const Task& task, const std::string& source,
                                   const EvaluateOptions& options) const {
  std::vector<Value> costs;
  const auto with_costs = [&](Evaluation evaluation) {
    std::ranges::move(costs, std::back_inserter(evaluation.values));
    return evaluation;
  };
  double took_ms = 0;
  for (std::size_t i = 0; i < backends_.before.size(); ++i) {
    const Backend& before = *backends_.before[i];
    if (!Backend::check_contract(before.component(), options.contract)) continue;
    KRL_ASSIGN(Evaluation found,
               evaluate_with_retry(before, task, source, without_times(options), &took_ms));
    costs.push_back({-1, names_[i], "ms", took_ms});
    if (!refuses(before, found.verdict)) continue;
    const double saved_ms = durations_->mean();
    if (std::isfinite(saved_ms)) costs.push_back({-1, kSavedMs, "ms", saved_ms});
    return with_costs(std::move(found));
  }
  KRL_ASSIGN(Evaluation found, evaluate_on_backend(task, source, options, &took_ms));
  durations_->add(took_ms);
  if (!backends_.before.empty()) costs.push_back({-1, names_.back(), "ms", took_ms});
  return with_costs(std::move(found));
}

Result<Evaluation> Judge::evaluate_on_backend(const Task& task, const std::string& source,
                                              const EvaluateOptions& options,
                                              double* took_ms) const {
  KRL_ASSIGN(Evaluation found,
             evaluate_with_retry(*backends_.backend, task, source, options, took_ms));
  if (backends_.sanitizer == nullptr || !found.passed()) return found;
  return sanitize(task, source, options, std::move(found));
}

Result<Evaluation> Judge::sanitize(const Task& task, const std::string& source,
                                   const EvaluateOptions& options, Evaluation passed) const {
  KRL_ASSIGN(Evaluation found,
             evaluate_with_retry(*backends_.sanitizer, task, source, without_times(options)));
  const bool refused = is_fault(found.verdict), executed = refused || found.passed();
  // Figures of the compile for the real target.
  if (refused) found.kernels = std::move(passed.kernels);
  Evaluation& judged = refused ? found : passed;
  if (executed) judged.values.push_back({-1, kUnsafe, "", refused ? 1.0 : 0.0});
  judged.values.push_back({-1, kUnsanitized, "", executed ? 0.0 : 1.0});
  return std::move(judged);
}

}  // namespace krl::core
