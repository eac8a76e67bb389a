// A loss of kernelrl's in a service's terms, so that its gradient is kernelrl's.
//
// Services know cross_entropy, -w·θ; importance_sampling, -r·A; ppo, -min(r·A, clip(r, low,
// high)·A); cispo, -clip(r, low, high)·A·θ with the clipped ratio taken as a constant; where
// r = exp(θ - logprobs), and low and high are bounds of r itself. The hosted service adds them up
// over all tokens; SkyRL divides the sum of each datum by its number of target tokens, and the
// whole by the number of data since the last optim_step.
//
// A token's factor (weight over normaliser) folds into its advantage, as all these losses are
// proportional to it; so does the truncated importance weight: logprobs are then θ_old, and the
// advantage is multiplied by min(exp(θ_old - q), tis). Pure functions: thread-safe.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "plugins/policies/tinker/learned_example.hpp"

namespace krl::tinker {

enum class Gradients {
  kSum,   // over all tokens
  kMean,  // over each datum's target tokens, then over the data of the step
};

struct ServiceLoss {
  std::string loss_fn;
  std::vector<std::pair<std::string, double>> config;
};

// The service's own loss with kernelrl's gradient; nothing if it has none for these examples:
// gspo, a divergence from a reference, ppo's dual clip where an advantage is negative, and
// cross_entropy where data are averaged, which divides by the sum of their weights.
std::optional<ServiceLoss> own_loss(const policies::LossOptions& loss,
                                    const std::vector<LearnedExample>& examples,
                                    Gradients gradients);

// The datum for own_loss(). `step_examples`: how many the optimiser step has in all.
Datum own_loss_datum(const policies::LossOptions& loss, const LearnedExample& example,
                     Gradients gradients, std::size_t step_examples);

// Returns the loss whose gradient is a datum's `gradient`: linear in θ.
ServiceLoss linear_loss(Gradients gradients);
// `gradient`: dL/dθ of each token of the answer.
Datum linear_loss_datum(const LearnedExample& example, const std::vector<double>& gradient,
                        Gradients gradients, std::size_t step_examples);

// Makes a datum that asks for log-probabilities alone, with the loss cross_entropy: prompt and
// answer, all weights 0.
Datum forward_datum(const LearnedExample& example);

// Selects the answer's log-probabilities from those of a datum's target tokens. Throws krl::Failure
// (KRL_UNAVAILABLE) if there are not as many as target tokens, or one is not a log-probability: not
// finite, or greater than 0 by more than rounding.
std::vector<float> answer_logprobs(const LearnedExample& example,
                                   const std::vector<float>& logprobs);

}  // namespace krl::tinker
