// Objectives: from the returns of one group to the advantages of its members.
// Pure functions, in double precision; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/plan/plan.hpp"
#include "core/plugin/policy.hpp"

namespace krl::core {

// The return of one member of a group, and which episode it is of.
struct Return {
  double value = 0;
  std::size_t episode = 0;
};

// The advantage of every member of one group, from the members' returns R, which are of two
// episodes or more. (gae does not use groups: gae_advantages.) With n members:
//   grpo      (R − mean) / (std + 1e-6), std with n − 1    (GRPO, arXiv 2402.03300)
//   dr_grpo   R − mean                                     (Dr. GRPO, arXiv 2503.20783)
//   rloo      R minus the mean of the members of other episodes    (RLOO, arXiv 2402.14740)
//   max_at_k  k · E[(R − the best of k − 1 others)⁺], over all choices of the others: the mean over
//             the group estimates the gradient of the best of k (PKPO, arXiv 2505.15201, its
//             leave-one-out form). If n < k, k is n.
//   entropic  n q − 1, with q ∝ exp(β R) and β such that KL(q ‖ uniform) is `tilt` nats; q is
//             uniform over the best if even that is less (TTT-Discover, arXiv 2601.16175)
//   quantile  (R − R_q)⁺ / (1 − q), R_q being the group's quantile q, interpolated: risk-seeking
//             policy gradients (Petersen et al., arXiv 1912.04871)
std::vector<double> group_advantages(const std::vector<Return>& returns, AdvantageKind kind,
                                     const ObjectiveSettings& settings = {});

// The largest return of a group less the smallest; 0 of none.
double spread_of(const std::vector<Return>& returns);

// A spread up to this is rounding.
inline constexpr double kSameReturn = 1e-6;

// The likelihood of an answer under the policy that sampled it, and whether its kernel passed.
struct Likelihood {
  double logprob = 0;
  bool passed = false;
};

// Multiplies each positive return of a right answer by 1 − weight · (n − rank) / n, where `rank` of
// the group's n answers are likelier, so that rare right answers are learned from most
// (unlikeliness reward, arXiv 2506.02355). `answers`: as many as returns.
void weigh_unlikely(std::vector<Return>& returns, const std::vector<Likelihood>& answers,
                    double weight);

// The tokens of `examples` that are learned from, by their covariance: the log-probability with
// which a token was sampled less the mean of all, times its advantage less the mean of all. Tokens
// of a large covariance are those that lower the entropy (Cui et al., arXiv 2505.22617).
class Covariance {
 public:
  explicit Covariance(const std::vector<Example>& examples);

  // Clip-Cov: takes the weight of `share` of all tokens, drawn by `seed` from those whose
  // covariance is within `low` and `high`.
  void clip(std::vector<Example>& examples, double share, double low, double high,
            std::uint64_t seed) const;

  // KL-Cov: the loss parameters by which a policy recognises the `share` of all tokens with the
  // largest covariances; their divergence from the sampler costs `weight`. None if there are no
  // such tokens.
  std::vector<LossParameter> penalty(double share, double weight) const;

 private:
  struct Token {
    std::size_t example, position;
    double covariance;
  };
  double mean_logprob_ = 0, mean_advantage_ = 0;
  std::vector<Token> tokens_;
};

}  // namespace krl::core
