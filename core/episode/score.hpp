// The score of a turn: the plan's reward terms, weighted and gated.
#pragma once

#include <string>
#include <vector>

#include "core/base/result.hpp"
#include "core/episode/episode.hpp"
#include "core/plan/plan.hpp"
#include "core/plugin/reward.hpp"

namespace krl::core {

struct RewardTerm {
  Reward reward;
  std::string name;  // names its metric, reward/<name>/mean
  double weight = 1;
  RewardWhen when = RewardWhen::kAlways;
};

// Immutable after construction; thread-safe as the plugins are.
class Scorer {
 public:
  explicit Scorer(std::vector<RewardTerm> terms) : terms_(std::move(terms)) {}

  const std::vector<RewardTerm>& terms() const { return terms_; }

  // Scores the last turn of `episode`, whose evaluation is there. A term that stays unavailable is
  // Score::lost; an error is the run's. REQUIRES: no infrastructure error. Blocks; any thread.
  Result<Score> score(const Episode& episode) const;

 private:
  std::vector<RewardTerm> terms_;
};

}  // namespace krl::core
