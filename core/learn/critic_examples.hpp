// Training examples by a critic: advantages token by token, where `advantage = "gae"`.
#pragma once

#include <vector>

#include "core/base/metrics.hpp"
#include "core/base/result.hpp"
#include "core/learn/training_set.hpp"
#include "core/plan/plan.hpp"
#include "core/plugin/policy.hpp"

namespace krl::core {

// Selects the turns of an iteration with the advantages that the policy's critic computes for their
// tokens, and with the values and returns that the critic learns from. An episode is one sequence
// of steps: the tokens of its turns, of which the last of each turn earns the turn's score. Within
// a turn the discount is gae.gamma, from a turn to the next it is returns.discount. Turns that
// stop_when left out belong to the last one. Turns are left out or masked as in `select_examples`;
// there are no groups.
//
// Metrics: critic/value_mean and critic/explained_variance, 1 − Var(return − value) / Var(return),
// over the tokens that are learned from. REQUIRES: PolicyInfo::has_critic.
Result<TrainingSet> select_examples_by_critic(const std::vector<Episode>& episodes,
                                              const LearnSettings& settings, const Policy& policy,
                                              Metrics& metrics);

}  // namespace krl::core
