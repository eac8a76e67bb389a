// Evaluations of a run: the judge behind the ledger, so that nothing is evaluated twice and nothing
// is lost; or without one, where nothing is to stay.
#pragma once

#include <cstdint>
#include <functional>
#include <kernelrl/evaluation.hpp>
#include <optional>
#include <string>
#include <utility>

#include "core/base/result.hpp"
#include "core/episode/judge.hpp"
#include "core/plugin/backend.hpp"
#include "core/run/ledger.hpp"
#include "core/task/answer.hpp"
#include "core/task/task.hpp"

namespace krl::core {

struct Evaluated {
  Evaluation evaluation;
  bool reused = false;  // known from an earlier round of this run
};

// The shapes of a task that a candidate is checked on: the shown ones and a few fresh ones; the
// hold-outs as well; or these and the task's whole pool, in an evaluation that no backend takes
// from a cache.
enum class Shapes { kTraining, kWithHoldout, kAll };

// The verdict on an answer without a kernel, which no backend is asked for; nothing if it holds one.
std::optional<Evaluation> format_error(const Candidate& candidate, Contract contract,
                                       const std::string& backend);

// Thread-safe; calls block.
class Evaluations {
 public:
  // `run_seed` determines the seed of each task's inputs; `contract` applies to all candidates.
  // `ledger`: null if nothing is to be kept.
  Evaluations(Judge judge, std::uint64_t run_seed, Ledger* ledger,
              Contract contract = Contract::kDevice)
      : judge_(std::move(judge)), run_seed_(run_seed), ledger_(ledger), contract_(contract) {}

  const BackendInfo& info() const { return judge_.info(); }
  const Component& backend() const { return judge_.backend(); }

  // Evaluates a candidate of a group of `round`, or returns an earlier round's evaluation of the same
  // source. An answer without a kernel is a format_error. An infrastructure error of a
  // backend becomes the verdict infra_error, after more tries while it is unavailable, and after
  // one more otherwise; an error here concerns the run: the ledger cannot be written, or the user
  // stopped the run.
  Result<Evaluated> evaluate(const Task& task, const Candidate& candidate, int round,
                             Shapes shapes = Shapes::kTraining) const;

  // Calls `function(i)` for every i below `n`, as many at a time as the backend can use.
  void side_by_side(std::size_t n, const std::function<void(std::size_t)>& function) const;

  // Checks the task itself; see Backend::prepare.
  Status prepare(const Task& task) const { return judge_.prepare(task, options_for(task)); }

 private:
  EvaluateOptions options_for(const Task& task, Shapes shapes = Shapes::kTraining) const;
  std::string key_of(const Task& task, const std::string& source,
                     const EvaluateOptions& options) const;
  Status record(const std::string& key, int round, const Task& task,
                const Evaluation& evaluation) const;

  const Judge judge_;
  const std::uint64_t run_seed_;
  Ledger* ledger_;
  const Contract contract_;
};

}  // namespace krl::core
