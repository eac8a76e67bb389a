// A count of what a search has used up of its budget.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "core/base/metrics.hpp"
#include "core/base/result.hpp"
#include "core/episode/rollout.hpp"
#include "core/plan/plan.hpp"

namespace krl::core {

// A stage's; its state goes into checkpoints. The kernels of its tasks are counted elsewhere
// (Judged). One thread.
class Budget {
 public:
  explicit Budget(const BudgetSettings& limits) : limits_(limits) {}

  // Counts the tokens of a round and the time that it took. An error if the limits need a number
  // of tokens that the policy does not give.
  Status add(const RolloutResult& rollout, double seconds);

  // True if the tokens, minutes or dollars are used up.
  bool used_up() const;

  double dollars() const;
  Metrics metrics() const;

  nlohmann::json state() const;
  void restore(const nlohmann::json& state);

 private:
  const BudgetSettings limits_;
  double prompt_tokens_ = 0, answer_tokens_ = 0, seconds_ = 0;
};

}  // namespace krl::core
