// The losses of learning.md, token by token, with their derivatives; no autograd, no torch.
//
// θ is the log-probability of a token under the weights that learn, q when it was sampled, A its
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

#include <kernelrl/policy.hpp>
#include <span>
#include <vector>

namespace krl::libtorch {

enum class LossKind { kCrossEntropy, kImportanceSampling, kPpo, kGspo, kCispo };
enum class KlEstimator { kK2, kK3 };  // Schulman, "Approximating KL divergence", 2020

struct LossOptions {
  LossKind kind = LossKind::kPpo;
  std::uint32_t aggregation = KRL_TOKEN_MEAN;
  double normaliser = 1;
  double temperature = 1;
  double clip_low = 0.2, clip_high = 0.28;
  double dual_clip = 3;  // 0 = off
  // Weight of the divergence from the reference: k2 = (θ - ref)²/2, k3 = e^(ref-θ) - (ref-θ) - 1.
  double kl = 0;
  KlEstimator kl_estimator = KlEstimator::kK3;
  // Largest weight exp(θ_old - q) of a token for a sampler that computes otherwise than the
  // trainer, θ_old being the trainer's log-probability under the weights that sampled; 0 = off. The
  // ratio of the loss is then exp(θ - θ_old) (Yao et al., "Your efficient RL framework secretly
  // brings you off-policy RL training", 2025).
  double tis = 0;
  double entropy = 0;  // weight of the entropy of each prediction, which the loss rewards
};

// Reads name, parameters, aggregation and normaliser. Throws krl::Failure (KRL_INVALID_ARGUMENT)
// that names an unknown loss or parameter, or the range of a value outside it.
LossOptions parse_loss(const Loss& loss);

// The tokens of one answer, all arrays of one length; those that the loss does not read are empty.
struct AnswerTokens {
  std::span<const double> now;      // θ
  std::span<const double> entropy;  // of the prediction of each token
  std::span<const float> sampled;   // q
  std::span<const float> advantages;
  std::span<const float> weights;     // empty = all 1
  std::span<const double> start;      // θ_old, with tis
  std::span<const double> reference;  // with kl
};

// Sums over tokens, each term divided by the normaliser, so that those of several calls add up.
struct LossMetrics {
  double loss = 0;
  double clip_fraction = 0;  // tokens whose gradient ppo's clip took away
  double ppo_kl = 0;         // e^(θ-q) - (θ-q) - 1, an estimate of KL(sampler ‖ policy)
  double entropy = 0;
  double logprob_diff_mean = 0;  // |θ - q|, with tis |θ_old - q|
  double logprob_diff_max = 0;   // the largest, not a sum

  void add(const LossMetrics& other);
};

// Writes the derivatives of the loss by θ and by the entropy of each token, and adds the answer's
// share to `metrics`. Tokens of weight 0 have derivative 0. REQUIRES: as many of both as tokens.
void answer_loss(const LossOptions& options, const AnswerTokens& answer,
                 std::span<double> by_logprob, std::span<double> by_entropy, LossMetrics& metrics);

}  // namespace krl::libtorch
