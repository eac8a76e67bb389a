// Generalised advantage estimation: the advantage of each token, from a critic's values.
// Pure functions, in double precision; any thread.
#pragma once

#include <vector>

namespace krl::core {

// One step of an episode: a token that was sampled.
struct Step {
  double reward = 0;    // reward that the step earned
  double discount = 1;  // discount of everything after it: γ of this step
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

}  // namespace krl::core
