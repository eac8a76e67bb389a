#include "core/episode/evaluations.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/post.hpp>
#include <boost/asio/thread_pool.hpp>

#include "core/base/hash.hpp"
#include "core/base/log.hpp"

namespace krl::core {
namespace {

Evaluation without_result(Verdict verdict, std::string why, Contract contract,
                          const std::string& backend) {
  Evaluation evaluation;
  evaluation.verdict = verdict;
  evaluation.why = std::move(why);
  evaluation.contract = contract;
  evaluation.backend = backend;
  return evaluation;
}

// A lucky time would otherwise be a lasting bonus of one text among equals.
constexpr int kTimedAgainAfter = 10;  // rounds

bool is_stale(const LedgerRecord& known, int round, Shapes shapes) {
  return shapes == Shapes::kTraining && round - known.round >= kTimedAgainAfter &&
         std::ranges::any_of(known.evaluation.cases,
                             [](const Case& c) { return c.timed() && !c.estimated; });
}

}  // namespace

std::optional<Evaluation> format_error(const Candidate& candidate, Contract contract,
                                       const std::string& backend) {
  const bool is_cut = candidate.format == Format::kTruncated;
  if (!is_cut && !candidate.source.empty()) return std::nullopt;
  return without_result(
      Verdict::kFormatError,
      is_cut ? "the answer ended before its kernel was complete" : "the answer holds no kernel",
      contract, backend);
}

EvaluateOptions Evaluations::options_for(const Task& task, Shapes shapes) const {
  EvaluateOptions options;
  if (shapes != Shapes::kTraining) options.stages |= KRL_STAGE_HOLDOUT;
  if (shapes == Shapes::kAll) options.stages |= KRL_STAGE_POOL;
  options.seed = seed_for(run_seed_, "evaluate", task.id);
  options.contract = contract_;
  return options;
}

std::string Evaluations::key_of(const Task& task, const std::string& source,
                                const EvaluateOptions& options) const {
  return sha256_hex(fmt::format("{}\n{}\n{}\n{}\n{} {}\n{}", judge_.identity(), options.stages,
                                options.seed, name_of(options.contract),
                                task.definition_json.size(), task.definition_json, source));
}

Result<Evaluated> Evaluations::evaluate(const Task& task, const Candidate& candidate, int round,
                                        Shapes shapes) const {
  if (auto refused = format_error(candidate, contract_, backend().id))
    return Evaluated{*std::move(refused)};
  EvaluateOptions options = options_for(task, shapes);
  const std::string key = key_of(task, candidate.source, options);
  if (ledger_ != nullptr) {
    KRL_ASSIGN(auto known, ledger_->find(key, round));
    if (known && !is_stale(*known, round, shapes))
      return Evaluated{std::move(known->evaluation), true};
    if (known)  // another seed, so that no cache of the backend has it
      options.seed = seed_for(run_seed_, "evaluate", task.id, round / kTimedAgainAfter);
  }
  Result<Evaluation> evaluation = judge_.evaluate(task, candidate.source, options);
  if (evaluation) {
    KRL_TRY(record(key, round, task, *evaluation));
    return Evaluated{std::move(*evaluation), false};
  }
  if (evaluation.error().code == Code::kCancelled) return failure(std::move(evaluation).error());
  log(Severity::kError, fmt::format("{}: not evaluated, the turn is dropped: {}", task.id,
                                    evaluation.error().message));
  Evaluation lost =
      without_result(Verdict::kInfraError, evaluation.error().message, contract_, backend().id);
  KRL_TRY(record("", round, task, lost));  // no key: it is never found again
  return Evaluated{std::move(lost), false};
}

void Evaluations::side_by_side(std::size_t n,
                               const std::function<void(std::size_t)>& function) const {
  boost::asio::thread_pool pool(std::clamp<std::size_t>(n, 1, info().concurrency));
  for (std::size_t i = 0; i < n; ++i) {
    boost::asio::post(pool, [&function, i] { function(i); });
  }
  pool.join();
}

Status Evaluations::record(const std::string& key, int round, const Task& task,
                           const Evaluation& evaluation) const {
  if (ledger_ == nullptr) return {};
  return ledger_->append({key, round, task.id, evaluation});
}

}  // namespace krl::core
