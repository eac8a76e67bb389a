// The losses of `learn.loss`, token by token, with their derivatives; no autograd, no torch.
//
// θ is the log-probability of a token under the trained weights, q when it was sampled, A its
// advantage, w its weight, r = exp(θ - q) with the log ratio clamped to ±20.
//   cross_entropy        -θ
//   importance_sampling  -r·A
//   ppo                  -min(r·A, clip(r, 1 - clip_low, 1 + clip_high)·A), and for A < 0 at most
//                        dual_clip·|A| (Schulman et al. 2017; dual clip: Ye et al. 2020)
//   gspo                 ppo's without dual clip, with the ratio of the sequence, exp(mean(θ - q)),
//                        in place of r; a token's gradient flows through its own θ (GSPO-token,
//                        Zheng et al. 2025, which is GSPO where all tokens have one advantage)
//   cispo                -clip(r, …)·A·θ, the clipped ratio taken as a constant (MiniMax-M1, 2025)
// Plain data and pure functions: thread-safe.
#pragma once

#include <cmath>
#include <kernelrl/policy.hpp>
#include <span>

#include "plugins/policies/losses/token_loss.hpp"

namespace krl::policies {

struct LossOptions : TokenLossOptions {
  std::uint32_t aggregation = KRL_TOKEN_MEAN;
  double normaliser = 1;
  double temperature = 1;
};

// Reads name, parameters, aggregation and normaliser. Throws krl::Failure (KRL_INVALID_ARGUMENT)
// that names an unknown loss or parameter, or the range of a value outside it.
LossOptions parse_loss(const Loss& loss);

// Reports the figures of a call that learned, by the names of abi.h; with cross_entropy the loss
// alone.
void report_metrics(const LossOptions& options, const LossMetrics& metrics, const Context& context);

// Writes how much each token of one answer counts, in the loss and in the metrics (TokenState).
// `weights` empty = all 1. REQUIRES: as many of each as tokens.
void weigh_tokens(const LossOptions& options, std::span<const float> weights,
                  std::span<double> factors, std::span<double> shares);

// The mean of now - base over the tokens of one answer by their weights (empty = all 1); 0 if all
// of these are 0.
double mean_log_ratio(std::span<const double> now, std::span<const double> base,
                      std::span<const float> weights);

}  // namespace krl::policies
