// The conditions of a plan on an iteration's metrics: a stage's `until`, and checkpoint.best.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "core/base/metrics.hpp"
#include "core/base/result.hpp"
#include "core/plan/plan.hpp"

namespace krl::core {

// The goal of a stage of reinforcement: what its `until` asks for.

// One stage's; its state is small and goes into checkpoints. One thread.
class Goal {
 public:
  // `stage` outlives the goal. `terms`: names of the reward terms.
  Goal(const StageSettings& stage, std::vector<std::string> terms);

  // Whether the condition holds after the stage's iteration `iteration` (from 1), which measured
  // `metrics`. The mean of a metric is over the last until_window iterations, and a condition that
  // names one which some of them lack (speedups before any kernel passes) does not hold. An error
  // names the condition's place.
  Result<bool> reached(std::int64_t iteration, const Metrics& metrics);

  nlohmann::json state() const;
  void restore(const nlohmann::json& state);

 private:
  const StageSettings& stage_;
  std::vector<std::string> terms_;
  // Of each metric that the condition names, since it was last not measured; newest last.
  std::map<std::string, std::vector<double>> recent_;
};

// The value of checkpoint.best for an iteration's metrics. Pure functions.

// The value of the expression; nothing where the iteration did not measure all that it names, or it
// has none, as a division by 0. `terms`: names of the reward terms; `turns`: of an episode.
std::optional<double> worth_of(const Expression& best, const Metrics& metrics,
                               const std::vector<std::string>& terms, std::int64_t turns);

// The iteration after which the weights were that the metrics of `iteration` are of. An iteration
// is sampled before it is learned from, and `ahead` (rollout.ahead) ones earlier; the hold-outs of
// a stage's `last` are measured after its learning.
int weights_measured_in(const Expression& best, int iteration, std::int64_t ahead, bool last);

}  // namespace krl::core
