// Evaluates a policy on the tasks of its plan, without training it. Main thread only.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "core/measure/measure_policy.hpp"
#include "service/plans/chosen_policy.hpp"

namespace krl::service {

struct PolicyEvaluationOptions {
  std::int64_t samples = 16;          // episodes per task
  std::vector<std::size_t> ks;        // the k of best@k, rising, 1 to `samples`
  bool train = true, holdout = true;  // the sets of tasks
  std::function<void(const std::string&)> warn;
  std::function<void(std::string_view set, std::string_view phase, int done, int of)> progress;
};

struct PolicyEvaluation {
  std::vector<Measurement> sets;
  BackendInfo backend;
  std::string answers;  // a JSON line for each turn
};

// 1, 4, 16, … and `samples`.
std::vector<std::size_t> default_ks(std::int64_t samples);

Result<PolicyEvaluation> evaluate_policy(const ChosenPolicy& chosen,
                                         const PolicyEvaluationOptions& options,
                                         Components& components);

nlohmann::json to_json(const ChosenPolicy& chosen, const PolicyEvaluationOptions& options,
                       const PolicyEvaluation& evaluation);

}  // namespace krl::service
