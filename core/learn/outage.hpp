// Detects that the infrastructure is down: consecutive iterations lose too many of their turns to
// it. Belongs to one run; one thread.
#pragma once

#include <optional>
#include <vector>

#include "core/base/result.hpp"
#include "core/episode/rollout.hpp"

namespace krl::core {

class Outage {
 public:
  // `most`: the share of an iteration's turns that may be lost to infrastructure; 1 = any.
  explicit Outage(double most) : most_(most) {}

  // Counts a rollout. An error if it is the third in a row that lost more: it has the first cause
  // of the first of them. Turns whose prompt the policy refused are not infrastructure errors.
  Status add(const RolloutResult& rollout);

 private:
  const double most_;
  std::vector<double> shares_;  // shares of consecutive rollouts that lost more
  std::optional<Error> first_;  // the first cause of the first of them
};

}  // namespace krl::core
