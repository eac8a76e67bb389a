#include "training/loss.hpp"

#include <algorithm>
#include <cmath>
#include <kernelrl/spelling.hpp>
#include <limits>

namespace krl::libtorch {
namespace {

constexpr double kLargestLogRatio = 20;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// What one token contributes, before weight and normaliser.
struct Term {
  double loss = 0;
  double by_logprob = 0;
  bool clipped = false;
};

double clamped(double log_ratio) {
  return std::clamp(log_ratio, -kLargestLogRatio, kLargestLogRatio);
}

// e^x and its derivative by x, with x clamped: flat outside.
struct Ratio {
  explicit Ratio(double log_ratio)
      : value(std::exp(clamped(log_ratio))),
        derivative(std::abs(log_ratio) <= kLargestLogRatio ? value : 0) {}
  double value, derivative;
};

Term clipped_term(const LossOptions& options, const Ratio& ratio, double advantage,
                  double dual_clip) {
  const double clip = std::clamp(ratio.value, 1 - options.clip_low, 1 + options.clip_high);
  const double plain = ratio.value * advantage, limited = clip * advantage;
  Term term;
  term.clipped = limited < plain;
  term.loss = -std::min(plain, limited);
  term.by_logprob = term.clipped ? 0 : -ratio.derivative * advantage;
  if (dual_clip > 0 && advantage < 0 && term.loss > -dual_clip * advantage) {
    term.loss = -dual_clip * advantage;
    term.by_logprob = 0;
  }
  return term;
}

// `base` is the log-probability that ratios are taken against: q, or θ_old with tis.
Term policy_term(const LossOptions& options, double now, double base, double advantage,
                 const Ratio& sequence) {
  const Ratio ratio(now - base);
  switch (options.kind) {
    case LossKind::kCrossEntropy:
      return {-now, -1, false};
    case LossKind::kImportanceSampling:
      return {-ratio.value * advantage, -ratio.derivative * advantage, false};
    case LossKind::kPpo:
      return clipped_term(options, ratio, advantage, options.dual_clip);
    case LossKind::kGspo:
      return clipped_term(options, sequence, advantage, 0);
    case LossKind::kCispo: {
      const double clip = std::clamp(ratio.value, 1 - options.clip_low, 1 + options.clip_high);
      return {-clip * advantage * now, -clip * advantage, clip != ratio.value};
    }
  }
  return {};
}

// The divergence from the reference, and its derivative by θ.
Term kl_term(KlEstimator estimator, double now, double reference) {
  if (estimator == KlEstimator::kK2) {
    const double difference = now - reference;
    return {difference * difference / 2, difference, false};
  }
  const Ratio ratio(reference - now);
  return {ratio.value - (reference - now) - 1, 1 - ratio.derivative, false};
}

struct Parameter {
  const char* name;
  double LossOptions::*value;
  double low, high;
};
constexpr Parameter kParameters[] = {{"clip_low", &LossOptions::clip_low, 0, 1},
                                     {"clip_high", &LossOptions::clip_high, 0, kInfinity},
                                     {"dual_clip", &LossOptions::dual_clip, 0, kInfinity},
                                     {"kl", &LossOptions::kl, 0, kInfinity},
                                     {"tis", &LossOptions::tis, 0, kInfinity},
                                     {"entropy", &LossOptions::entropy, 0, kInfinity}};
constexpr const char* kKlEstimatorName = "kl_estimator";

struct Kind {
  const char* name;
  LossKind kind;
};
constexpr Kind kKinds[] = {{"cross_entropy", LossKind::kCrossEntropy},
                           {"importance_sampling", LossKind::kImportanceSampling},
                           {"ppo", LossKind::kPpo},
                           {"gspo", LossKind::kGspo},
                           {"cispo", LossKind::kCispo}};

// "unknown loss 'pop': did you mean 'ppo'? known: …"
[[noreturn]] void refuse_name(const std::string& what, std::string_view name,
                              const std::vector<std::string>& known) {
  std::string message = "unknown " + what + " '" + std::string(name) + "'";
  const std::string closest = closest_name(name, known);
  if (!closest.empty()) message += ": did you mean '" + closest + "'?";
  message += " known:";
  for (const std::string& k : known) message += " " + k;
  invalid_argument(message);
}

LossKind parse_kind(std::string_view name) {
  std::vector<std::string> known;
  for (const Kind& kind : kKinds) {
    if (name == kind.name) return kind.kind;
    known.emplace_back(kind.name);
  }
  refuse_name("loss", name, known);
}

void set_parameter(LossOptions& options, std::string_view name, double value) {
  std::vector<std::string> known = {kKlEstimatorName};
  if (name == kKlEstimatorName) {
    if (value != 2 && value != 3) invalid_argument("loss.kl_estimator must be 2 or 3");
    options.kl_estimator = value == 2 ? KlEstimator::kK2 : KlEstimator::kK3;
    return;
  }
  for (const Parameter& parameter : kParameters) {
    known.emplace_back(parameter.name);
    if (name != parameter.name) continue;
    if (!(value >= parameter.low && value <= parameter.high) || std::isinf(value)) {
      invalid_argument(
          "loss." + std::string(name) + " is " + std::to_string(value) +
          (parameter.high == 1 ? "; it must be from 0 to 1" : "; it must be at least 0"));
    }
    options.*parameter.value = value;
    return;
  }
  refuse_name("parameter of the loss", name, known);
}

}  // namespace

LossOptions parse_loss(const Loss& loss) {
  LossOptions options;
  options.kind = parse_kind(loss.name());
  options.aggregation = loss.aggregation();
  options.normaliser = loss.normaliser();
  options.temperature = loss.temperature();
  if (options.aggregation > KRL_TOKEN_SUM) {
    invalid_argument("unknown aggregation " + std::to_string(options.aggregation) + " of the loss");
  }
  if (!(options.normaliser > 0) || std::isinf(options.normaliser)) {
    invalid_argument(
        "the loss's normaliser must be greater than 0: the number of tokens, or of "
        "answers, of the whole optimiser step");
  }
  if (!(options.temperature > 0) || std::isinf(options.temperature)) {
    invalid_argument("the loss's temperature must be greater than 0");
  }
  for (std::size_t i = 0; i < loss.size(); ++i) {
    set_parameter(options, loss.parameter_name(i), loss.parameter_value(i));
  }
  return options;
}

void LossMetrics::add(const LossMetrics& other) {
  loss += other.loss;
  clip_fraction += other.clip_fraction;
  ppo_kl += other.ppo_kl;
  entropy += other.entropy;
  logprob_diff_mean += other.logprob_diff_mean;
  logprob_diff_max = std::max(logprob_diff_max, other.logprob_diff_max);
}

void answer_loss(const LossOptions& options, const AnswerTokens& answer,
                 std::span<double> by_logprob, std::span<double> by_entropy, LossMetrics& metrics) {
  const std::size_t n = answer.now.size();
  const auto weight = [&](std::size_t i) {
    return answer.weights.empty() ? 1.0 : static_cast<double>(answer.weights[i]);
  };
  const auto base = [&](std::size_t i) {
    if (!answer.start.empty()) return answer.start[i];
    return answer.sampled.empty() ? answer.now[i] : static_cast<double>(answer.sampled[i]);
  };
  double total_weight = 0, log_ratio = 0;
  for (std::size_t i = 0; i < n; ++i) {
    total_weight += weight(i);
    log_ratio += weight(i) * (answer.now[i] - base(i));
  }
  const Ratio sequence(total_weight > 0 ? log_ratio / total_weight : 0);
  const double mean_share = 1 / options.normaliser;

  for (std::size_t i = 0; i < n; ++i) {
    by_logprob[i] = by_entropy[i] = 0;
    if (weight(i) == 0) continue;
    double share = weight(i) * mean_share;  // of the token in the metrics
    if (options.aggregation == KRL_SEQUENCE_MEAN) share /= total_weight;
    const double factor = options.aggregation == KRL_TOKEN_SUM ? weight(i) : share;

    const double advantage = answer.advantages.empty() ? 0.0 : answer.advantages[i];
    Term term = policy_term(options, answer.now[i], base(i), advantage, sequence);
    if (!answer.start.empty()) {
      const double trust = Ratio(answer.start[i] - answer.sampled[i]).value;
      term.loss *= std::min(trust, options.tis);
      term.by_logprob *= std::min(trust, options.tis);
    }
    if (options.kl > 0) {
      const Term kl = kl_term(options.kl_estimator, answer.now[i], answer.reference[i]);
      term.loss += options.kl * kl.loss;
      term.by_logprob += options.kl * kl.by_logprob;
    }
    term.loss -= options.entropy * answer.entropy[i];
    by_logprob[i] = factor * term.by_logprob;
    by_entropy[i] = -factor * options.entropy;

    metrics.loss += factor * term.loss;
    metrics.entropy += share * answer.entropy[i];
    metrics.clip_fraction += share * (term.clipped ? 1 : 0);
    if (answer.sampled.empty()) continue;
    const double moved = clamped(answer.now[i] - answer.sampled[i]);
    metrics.ppo_kl += share * (std::exp(moved) - moved - 1);
    const double difference =
        std::abs((answer.start.empty() ? answer.now[i] : answer.start[i]) - answer.sampled[i]);
    metrics.logprob_diff_mean += share * difference;
    metrics.logprob_diff_max = std::max(metrics.logprob_diff_max, difference);
  }
}

}  // namespace krl::libtorch
