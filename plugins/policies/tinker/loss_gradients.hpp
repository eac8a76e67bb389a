// The gradient of kernelrl's losses (losses/loss.hpp), from the log-probabilities that a service
// returns. Pure functions: thread-safe.
#pragma once

#include <span>
#include <vector>

#include "plugins/policies/tinker/learned_example.hpp"

namespace krl::tinker {

// Returns dL/dθ of each token of the answer, where `now` are its log-probabilities θ; adds the
// answer's part to `metrics`. Equals the local policy's gradient, because both call token_loss().
// REQUIRES: an example of copy_examples() with this loss; as many `now` as tokens.
std::vector<double> loss_gradient(const policies::LossOptions& loss, const LearnedExample& example,
                                  std::span<const float> now, policies::LossMetrics& metrics);

// Returns how much each token counts in the loss: its weight over the normaliser, according to
// `aggregation`.
std::vector<double> loss_factors(const policies::LossOptions& loss, const LearnedExample& example);

}  // namespace krl::tinker
