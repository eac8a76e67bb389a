#include "plugins/policies/losses/loss.hpp"

#include <algorithm>
#include <cmath>
#include <kernelrl/spelling.hpp>
#include <limits>

namespace krl::policies {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct Parameter {
  const char* name;
  double LossOptions::*value;
  double low, high;
};
constexpr Parameter kParameters[] = {
    {"clip_low", &LossOptions::clip_low, 0, 1},
    {"clip_high", &LossOptions::clip_high, 0, kInfinity},
    {"dual_clip", &LossOptions::dual_clip, 0, kInfinity},
    {"kl", &LossOptions::kl, 0, kInfinity},
    {"tis", &LossOptions::tis, 0, kInfinity},
    {"entropy", &LossOptions::entropy, 0, kInfinity},
    {"kl_cov", &LossOptions::kl_cov, 0, kInfinity},
    {"cov_logprob", &LossOptions::cov_logprob, -kInfinity, kInfinity},
    {"cov_advantage", &LossOptions::cov_advantage, -kInfinity, kInfinity},
    {"cov_least", &LossOptions::cov_least, -kInfinity, kInfinity},
    {"value_weight", &LossOptions::value_weight, 0, kInfinity},
    {"value_clip", &LossOptions::value_clip, 0, kInfinity}};
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
    if (parameter.value == &LossOptions::dual_clip && value > 0 && value < 1) {
      invalid_argument("loss.dual_clip is " + std::to_string(value) +
                       "; it must be at least 1, or 0 for none");
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

void report_metrics(const LossOptions& options, const LossMetrics& metrics,
                    const Context& context) {
  context.metric("loss", metrics.loss);
  if (options.kind == LossKind::kCrossEntropy) return;
  context.metric("pg_loss", metrics.pg_loss);
  context.metric("clip_fraction", metrics.clip_fraction);
  context.metric("ppo_kl", metrics.ppo_kl);
  context.metric("logprob_diff_mean", metrics.logprob_diff_mean);
  context.metric("logprob_diff_max", metrics.logprob_diff_max);
  if (options.kl > 0) context.metric("kl", metrics.kl);
  if (options.tis > 0) {
    context.metric("tis_cut", metrics.tis_cut);
    context.metric("tis_weight", metrics.tis_weight);
    context.metric("tis_weight_square", metrics.tis_weight_square);
  }
}

void weigh_tokens(const LossOptions& options, std::span<const float> weights,
                  std::span<double> factors, std::span<double> shares) {
  const auto weight = [&](std::size_t i) {
    return weights.empty() ? 1.0 : static_cast<double>(weights[i]);
  };
  double total = 0;
  for (std::size_t i = 0; i < factors.size(); ++i) total += weight(i);
  const double mean_share = 1 / options.normaliser;
  for (std::size_t i = 0; i < factors.size(); ++i) {
    shares[i] = weight(i) * mean_share;
    if (options.aggregation == KRL_SEQUENCE_MEAN && total > 0) shares[i] /= total;
    factors[i] = options.aggregation == KRL_TOKEN_SUM ? weight(i) : shares[i];
  }
}

double mean_log_ratio(std::span<const double> now, std::span<const double> base,
                      std::span<const float> weights) {
  double total = 0, log_ratio = 0;
  for (std::size_t i = 0; i < now.size(); ++i) {
    const double weight = weights.empty() ? 1.0 : static_cast<double>(weights[i]);
    total += weight;
    log_ratio += weight * (now[i] - base[i]);
  }
  return total > 0 ? log_ratio / total : 0;
}

}  // namespace krl::policies
