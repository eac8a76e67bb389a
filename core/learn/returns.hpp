// Returns and advantages: from the scores of turns to their learning signals.
// Pure functions, in double precision; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/base/metrics.hpp"
#include "core/base/result.hpp"
#include "core/learn/training_set.hpp"
#include "core/plan/plan.hpp"

namespace krl::core {

// The return of every turn t of one episode, from its scores s:
//   sum  R_t = Σ_{k≥t} discount^(k−t) · s_k      (Kevin, arXiv 2507.11948, with discount 0.4)
//   max  R_t = max_{k≥t} discount^(k−t) · s_k
// After the last of them stop_when left `unplayed` turns out. Where `after_stop` is repeat, each of
// those has the last score again, so that an episode never gains by staying below the condition.
std::vector<double> turn_returns(std::vector<double> scores, std::int64_t unplayed,
                                 const ReturnSettings& settings);

// The return of one member of a group, and which episode it is of.
struct Return {
  double value = 0;
  std::size_t episode = 0;
};

// The advantage of every member of one group, from the members' returns R, which are of two
// episodes or more. (gae does not use groups: gae_advantages.)
//   grpo     (R − mean) / (std + 1e-6), std with n − 1    (GRPO, arXiv 2402.03300)
//   dr_grpo  R − mean                                     (Dr. GRPO, arXiv 2503.20783)
//   rloo     R minus the mean of the members of other episodes    (RLOO, arXiv 2402.14740)
std::vector<double> group_advantages(const std::vector<Return>& returns, AdvantageKind kind);

// The largest return of a group less the smallest; 0 of none.
double spread_of(const std::vector<Return>& returns);

// A spread up to this is rounding.
inline constexpr double kSameReturn = 1e-6;

// Generalised advantage estimation: the advantage of each token, from a critic's values.
// Pure functions, in double precision; any thread.

// One step of an episode: a token that was sampled.
struct Step {
  double reward = 0;    // that it earned
  double discount = 1;  // of everything after it: γ of this step
  double value = 0;     // the return that the critic expected before it
  bool masked = false;  // not learned from
};

// The advantage of every step of one episode, in their order (Schulman et al., "High-Dimensional
// Continuous Control Using Generalized Advantage Estimation", arXiv 1506.02438):
//   δ_t = r_t + γ_t · V_{t+1} − V_t        A_t = δ_t + γ_t · λ · A_{t+1}        V, A = 0 after the
//   end
// Masked steps are carried through: each becomes a part of the step before it, with its reward and
// its discount, and its value is not asked for. Their own advantage is 0. With λ = 1 an advantage
// is the discounted return less the value.
std::vector<double> gae_advantages(const std::vector<Step>& steps, double lambda);

// Training examples by a critic: advantages token by token, where `advantage = "gae"`.

// The turns of an iteration with the advantages that the policy's critic gives their tokens, and
// with the values and returns that the critic learns from. An episode is one sequence of steps: the
// tokens of its turns, of which the last of each turn earns the turn's score. Within a turn the
// discount is gae.gamma, from a turn to the next it is returns.discount. Turns that stop_when left
// out belong to the last one. Which turns are left out or masked is as in `select_examples`; there
// are no groups.
//
// Metrics: critic/value_mean and critic/explained_variance, 1 − Var(return − value) / Var(return),
// over the tokens that are learned from. REQUIRES: PolicyInfo::has_critic.
Result<TrainingSet> select_examples_by_critic(const std::vector<Episode>& episodes,
                                              const LearnSettings& settings, const Policy& policy,
                                              Metrics& metrics);

}  // namespace krl::core
