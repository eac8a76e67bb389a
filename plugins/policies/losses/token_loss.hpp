// The loss of one token and its derivatives (losses: loss.hpp). Also part of the CUDA kernels'
// source, so that GPU and CPU compute the same; hence without includes: on the host, exp and fabs
// come from <cmath>.
#pragma once

namespace krl::policies {

enum class LossKind { kCrossEntropy, kImportanceSampling, kPpo, kGspo, kCispo };
enum class KlEstimator { kK2, kK3 };  // Schulman, "Approximating KL divergence", 2020

struct TokenLossOptions {
  LossKind kind = LossKind::kPpo;
  double clip_low = 0.2, clip_high = 0.28;
  double dual_clip = 3;  // 0 = off
  // Weight of the divergence from the reference: k2 = (θ - ref)²/2, k3 = e^(ref-θ) - (ref-θ) - 1,
  // which continues as a straight line where ref-θ > kKlBend.
  double kl = 0;
  KlEstimator kl_estimator = KlEstimator::kK3;
  // Largest weight exp(θ_old - q) of a token for a sampler that computes otherwise than the
  // trainer, θ_old being the trainer's log-probability under the weights that sampled; 0 = off. The
  // ratio of the loss is then exp(θ - θ_old) (Yao et al., "Your efficient RL framework secretly
  // brings you off-policy RL training", 2025).
  double tis = 0;
  // Weight of |θ - q| (with tis |θ - θ_old|) for tokens whose covariance, (q - cov_logprob) · (A -
  // cov_advantage), is at least cov_least; 0 = off (KL-Cov, Cui et al., arXiv 2505.22617).
  double kl_cov = 0, cov_logprob = 0, cov_advantage = 0, cov_least = 0;
  double entropy = 0;  // weight of the entropy of each prediction, which the loss rewards
  // For the critic: the weight of its loss, and how far its value may move from the one used for
  // the advantages before it is clipped; 0 = any distance (Schulman et al., PPO's implementation,
  // 2017).
  double value_weight = 0.5, value_clip = 0.2;
};

// The inputs of a token's loss.
struct TokenState {
  double now = 0, entropy = 0;  // θ, and the entropy of the prediction
  double sampled = 0;           // q, where is_sampled
  bool is_sampled = false;
  double start = 0;      // θ_old, with tis
  double reference = 0;  // used with kl
  double advantage = 0;
  // Mean of θ - (q or θ_old) over the answer, for gspo.
  double sequence_log_ratio = 0;
  // For the critic: its present value, its earlier value, and the target; valid if has_return.
  double value = 0, old_value = 0, target = 0;
  bool has_return = false;
  double factor = 0;  // factor of the loss: weight over normaliser
  double share = 0;   // share in the metrics
};

// The states of many tokens without their predictions, as arrays on a GPU; null where a loss reads
// none. `sampled` is NaN where a token was not sampled.
struct TokenArrays {
  const double* factors;
  const double* shares;
  const float* sampled;
  const float* advantages;
  const float* start;
  const float* reference;
  const double* sequence_log_ratios;
  const float* values;      // the critic's, of now; null without a critic
  const float* old_values;  // NaN where a token has no return
  const float* returns;
};

// Sums over tokens, each term times its share, so that those of several calls add up.
struct LossMetrics {
  double loss = 0;           // all of it: the policy's, the divergence, the entropy, the critic's
  double pg_loss = 0;        // the policy's alone
  double kl = 0;             // the divergence from the reference, before its weight
  double clip_fraction = 0;  // tokens whose gradient ppo's clip took away
  double ppo_kl = 0;         // e^(θ-q) - (θ-q) - 1, an estimate of KL(sampler ‖ policy)
  double entropy = 0;
  double logprob_diff_mean = 0;  // |θ - q|, with tis |θ_old - q|
  double value_loss = 0;         // the critic's, before its weight
  // With tis: the number of tokens whose weight was cut, and the sums of the weights and of their
  // squares.
  double tis_cut = 0, tis_weight = 0, tis_weight_square = 0;
  double logprob_diff_max = 0;  // the largest, not a sum

  void add(const LossMetrics& other) {
    loss += other.loss;
    pg_loss += other.pg_loss;
    kl += other.kl;
    clip_fraction += other.clip_fraction;
    ppo_kl += other.ppo_kl;
    entropy += other.entropy;
    logprob_diff_mean += other.logprob_diff_mean;
    value_loss += other.value_loss;
    tis_cut += other.tis_cut;
    tis_weight += other.tis_weight;
    tis_weight_square += other.tis_weight_square;
    if (other.logprob_diff_max > logprob_diff_max) logprob_diff_max = other.logprob_diff_max;
  }
};

// The derivatives of the loss by θ, by the entropy and by the critic's value.
struct TokenDerivatives {
  double by_logprob = 0, by_entropy = 0, by_value = 0;
};

// The contribution of one token, before its factor.
struct LossTerm {
  double loss = 0;
  double by_logprob = 0;
  bool clipped = false;
};

inline double least(double a, double b) { return b < a ? b : a; }
inline double within(double x, double low, double high) {
  return x < low ? low : high < x ? high : x;
}

constexpr double kLargestLogRatio = 20;
inline double clamped(double log_ratio) {
  return within(log_ratio, -kLargestLogRatio, kLargestLogRatio);
}

// e^x and its derivative by x, with x clamped: flat outside.
struct Ratio {
  explicit Ratio(double log_ratio)
      : value(exp(clamped(log_ratio))),
        derivative(fabs(log_ratio) <= kLargestLogRatio ? value : 0) {}
  double value, derivative;
};

inline LossTerm clipped_term(const TokenLossOptions& options, const Ratio& ratio, double advantage,
                             double dual_clip) {
  const double clip = within(ratio.value, 1 - options.clip_low, 1 + options.clip_high);
  const double plain = ratio.value * advantage, limited = clip * advantage;
  LossTerm term;
  term.clipped = limited < plain;
  term.loss = -least(plain, limited);
  term.by_logprob = term.clipped ? 0 : -ratio.derivative * advantage;
  if (dual_clip > 0 && advantage < 0 && term.loss > -dual_clip * advantage) {
    term.loss = -dual_clip * advantage;
    term.by_logprob = 0;
  }
  return term;
}

// The log-probability that ratios are taken against: θ_old with tis, else q.
inline double ratio_base(const TokenLossOptions& options, const TokenState& token) {
  if (options.tis > 0) return token.start;
  return token.is_sampled ? token.sampled : token.now;
}

inline LossTerm policy_term(const TokenLossOptions& options, const TokenState& token) {
  const Ratio ratio(token.now - ratio_base(options, token));
  switch (options.kind) {
    case LossKind::kCrossEntropy:
      return {-token.now, -1, false};
    case LossKind::kImportanceSampling:
      return {-ratio.value * token.advantage, -ratio.derivative * token.advantage, false};
    case LossKind::kPpo:
      return clipped_term(options, ratio, token.advantage, options.dual_clip);
    case LossKind::kGspo:
      return clipped_term(options, Ratio(token.sequence_log_ratio), token.advantage, 0);
    case LossKind::kCispo: {
      const double clip = within(ratio.value, 1 - options.clip_low, 1 + options.clip_high);
      return {-clip * token.advantage * token.now, -clip * token.advantage, clip != ratio.value};
    }
  }
  return {};
}

// From here on k3 continues as a straight line: with e^x, one token could dominate the whole step.
constexpr double kKlBend = 3;

// The divergence from the reference, and its derivative by θ.
inline LossTerm kl_term(KlEstimator estimator, double now, double reference) {
  const double difference = reference - now;
  if (estimator == KlEstimator::kK2) return {difference * difference / 2, -difference, false};
  const double bent = least(difference, kKlBend), ratio = exp(bent);
  return {ratio - bent - 1 + (ratio - 1) * (difference - bent), 1 - ratio, false};
}

// The distance of a token of large covariance from where it was sampled, and its derivative by θ;
// nothing for other tokens.
inline LossTerm covariance_term(const TokenLossOptions& options, const TokenState& token) {
  const double covariance =
      (token.sampled - options.cov_logprob) * (token.advantage - options.cov_advantage);
  if (!token.is_sampled || covariance < options.cov_least) return {};
  const double moved = token.now - ratio_base(options, token);
  return {fabs(moved), moved > 0 ? 1.0 : moved < 0 ? -1.0 : 0.0, false};
}

struct ValueTerm {
  double loss = 0, by_value = 0;
};

// max((v - return)², (v' - return)²) / 2 with v' within value_clip of the old value.
inline ValueTerm value_term(double clip, const TokenState& token) {
  const double limited =
      clip > 0 ? within(token.value, token.old_value - clip, token.old_value + clip) : token.value;
  const double plain_error = token.value - token.target, limited_error = limited - token.target;
  if (plain_error * plain_error >= limited_error * limited_error) {
    return {plain_error * plain_error / 2, plain_error};
  }
  return {limited_error * limited_error / 2, 0};
}

// Adds the token's part to `metrics`. A token whose share is 0 counts nothing.
inline TokenDerivatives token_loss(const TokenLossOptions& options, const TokenState& token,
                                   LossMetrics& metrics) {
  if (token.share == 0) return {};
  LossTerm term = policy_term(options, token);
  if (options.tis > 0) {
    const double weight = Ratio(token.start - token.sampled).value;
    const double trust = least(weight, options.tis);
    term.loss *= trust;
    term.by_logprob *= trust;
    metrics.tis_cut += token.share * (weight > options.tis ? 1 : 0);
    metrics.tis_weight += token.share * trust;
    metrics.tis_weight_square += token.share * trust * trust;
  }
  metrics.pg_loss += token.factor * term.loss;
  if (options.kl_cov > 0) {
    const LossTerm far = covariance_term(options, token);
    term.loss += options.kl_cov * far.loss;
    term.by_logprob += options.kl_cov * far.by_logprob;
  }
  if (options.kl > 0) {
    const LossTerm kl = kl_term(options.kl_estimator, token.now, token.reference);
    metrics.kl += token.share * kl.loss;
    term.loss += options.kl * kl.loss;
    term.by_logprob += options.kl * kl.by_logprob;
  }
  term.loss -= options.entropy * token.entropy;
  ValueTerm value;
  if (token.has_return) {
    value = value_term(options.value_clip, token);
    term.loss += options.value_weight * value.loss;
    metrics.value_loss += token.factor * value.loss;
  }
  metrics.loss += token.factor * term.loss;
  metrics.entropy += token.share * token.entropy;
  metrics.clip_fraction += token.share * (term.clipped ? 1 : 0);
  if (token.is_sampled) {
    const double moved = clamped(token.now - token.sampled);
    metrics.ppo_kl += token.share * (exp(moved) - moved - 1);
    const double difference = fabs((options.tis > 0 ? token.start : token.now) - token.sampled);
    metrics.logprob_diff_mean += token.share * difference;
    if (difference > metrics.logprob_diff_max) metrics.logprob_diff_max = difference;
  }
  return {token.factor * term.by_logprob, -token.factor * options.entropy,
          token.factor * options.value_weight * value.by_value};
}

}  // namespace krl::policies
