// The goal of a stage of reinforcement, which its `until` defines.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "core/base/metrics.hpp"
#include "core/base/result.hpp"
#include "core/plan/plan.hpp"

namespace krl::core {

// One stage's; its state is small and goes into checkpoints. One thread.
class Goal {
 public:
  // `stage` outlives the goal. `terms`: names of the reward terms.
  Goal(const StageSettings& stage, std::vector<std::string> terms);

  // True if the condition holds after the stage's iteration `iteration` (from 1), which measured
  // `metrics`. Each metric is averaged over the last until_window iterations, and a condition on a
  // metric that some of them lack (speedups before any kernel passes) does not hold. An error names
  // the condition's place.
  Result<bool> reached(std::int64_t iteration, const Metrics& metrics);

  nlohmann::json state() const;
  void restore(const nlohmann::json& state);

 private:
  const StageSettings& stage_;
  std::vector<std::string> terms_;
  // Values of each metric that the condition names, since it was last missing; newest last.
  std::map<std::string, std::vector<double>> recent_;
};

}  // namespace krl::core
