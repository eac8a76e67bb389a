// The losses against values computed by hand (the numbers beside each line), and their derivatives
// against finite differences.
#include "plugins/policies/losses/loss.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/unit/policies/recording_host.hpp"

namespace krl::libtorch {
namespace {

using namespace policies;  // losses

struct AnswerTokens {
  std::vector<double> now, entropy = {};
  std::vector<float> sampled = {}, advantages = {}, weights = {};
  std::vector<double> start = {}, reference = {};
};

struct Outcome {
  LossMetrics metrics;
  std::vector<double> by_logprob, by_entropy;
};

Outcome evaluate(const LossOptions& options, const AnswerTokens& a) {
  const std::size_t n = a.now.size();
  Outcome outcome;
  std::vector<double> factors(n), shares(n);
  weigh_tokens(options, a.weights, factors, shares);
  std::vector<double> base(a.sampled.begin(), a.sampled.end());
  if (options.tis > 0) base = a.start;
  const double log_ratio = base.empty() ? 0 : mean_log_ratio(a.now, base, a.weights);
  for (std::size_t i = 0; i < n; ++i) {
    const auto at = [&](const auto& values) {
      return values.empty() ? 0.0 : static_cast<double>(values[i]);
    };
    const TokenState token = {.now = a.now[i],
                              .entropy = at(a.entropy),
                              .sampled = at(a.sampled),
                              .is_sampled = !a.sampled.empty(),
                              .start = at(a.start),
                              .reference = at(a.reference),
                              .advantage = at(a.advantages),
                              .sequence_log_ratio = log_ratio,
                              .factor = factors[i],
                              .share = shares[i]};
    const TokenDerivatives by = token_loss(options, token, outcome.metrics);
    outcome.by_logprob.push_back(by.by_logprob);
    outcome.by_entropy.push_back(by.by_entropy);
  }
  return outcome;
}

LossOptions options(LossKind kind, double normaliser = 1) {
  LossOptions o;
  o.kind = kind;
  o.normaliser = normaliser;
  return o;
}

// One token with ratio r = now / sampled probability and advantage `advantage`.
AnswerTokens token(double ratio, float advantage) {
  return {{-1.0 + std::log(ratio)}, {}, {-1.0f}, {advantage}, {}, {}, {}};
}

TEST(Loss, CrossEntropy) {
  const Outcome o = evaluate(options(LossKind::kCrossEntropy, 2), {{-0.5, -1.5}});
  EXPECT_NEAR(o.metrics.loss, 1.0, 1e-15);  // (0.5 + 1.5) / 2
  EXPECT_EQ(o.by_logprob, (std::vector<double>{-0.5, -0.5}));
}

TEST(Loss, ImportanceSampling) {
  const Outcome o = evaluate(options(LossKind::kImportanceSampling), token(1.5, 2));
  EXPECT_NEAR(o.metrics.loss, -3.0, 1e-12);  // -1.5 · 2
  EXPECT_NEAR(o.by_logprob[0], -3.0, 1e-12);
}

TEST(Loss, PpoClipsBothSides) {
  const LossOptions ppo = options(LossKind::kPpo);
  struct Case {
    double ratio;
    float advantage;
    double loss, derivative, clipped;
  };
  const Case cases[] = {
      {1.1, 1, -1.1, -1.1, 0},  // inside
      {1.5, 1, -1.28, 0, 1},    // clipped above: -1.28 · 1
      {0.5, 1, -0.5, -0.5, 0},  // below, but the minimum is the plain one
      {0.5, -1, 0.8, 0, 1},     // clipped below: -(0.8 · -1)
      {1.5, -1, 1.5, 1.5, 0},   // above, plain
      {5.0, -1, 3.0, 0, 0},     // dual clip: 3 · 1
      {1.0, 0, 0, 0, 0},
  };
  for (const Case& c : cases) {
    const Outcome o = evaluate(ppo, token(c.ratio, c.advantage));
    EXPECT_NEAR(o.metrics.loss, c.loss, 1e-12) << c.ratio << " " << c.advantage;
    EXPECT_NEAR(o.by_logprob[0], c.derivative, 1e-12) << c.ratio << " " << c.advantage;
    EXPECT_EQ(o.metrics.clip_fraction, c.clipped) << c.ratio << " " << c.advantage;
  }
}

TEST(Loss, GspoUsesTheRatioOfTheSequence) {
  // Log ratios 0.1 and 0.3: s = e^0.2 = 1.221402758…, inside the clip; mean over the tokens.
  LossOptions o = options(LossKind::kGspo);
  o.aggregation = KRL_SEQUENCE_MEAN;
  const Outcome inside = evaluate(o, {{-0.9, -0.7}, {}, {-1.0f, -1.0f}, {1.0f, 1.0f}, {}, {}, {}});
  EXPECT_NEAR(inside.metrics.loss, -1.2214027581601699, 1e-9);
  EXPECT_NEAR(inside.by_logprob[0], -1.2214027581601699 / 2, 1e-9);
  const Outcome clipped = evaluate(o, {{-0.5, -0.5}, {}, {-1.0f, -1.0f}, {1.0f, 1.0f}, {}, {}, {}});
  EXPECT_NEAR(clipped.metrics.loss, -1.28, 1e-12);
  EXPECT_EQ(clipped.by_logprob[0], 0);
}

TEST(Loss, CispoKeepsTheGradientOfClippedTokens) {
  const Outcome o = evaluate(options(LossKind::kCispo), token(2.0, 1));
  EXPECT_NEAR(o.metrics.loss, -1.28 * (-1 + std::log(2.0)), 1e-12);  // -clip(r) · A · θ
  EXPECT_NEAR(o.by_logprob[0], -1.28, 1e-12);
  EXPECT_EQ(o.metrics.clip_fraction, 1);
}

TEST(Loss, LogRatioIsClamped) {
  const Outcome o =
      evaluate(options(LossKind::kImportanceSampling), {{-1.0}, {}, {-100.0f}, {1.0f}, {}, {}, {}});
  EXPECT_NEAR(o.metrics.loss, -std::exp(20.0), 1e-3);
  EXPECT_EQ(o.by_logprob[0], 0);
}

TEST(Loss, TokensOfALargeCovarianceStayNearTheirSampler) {
  LossOptions o = options(LossKind::kImportanceSampling);
  o.kl_cov = 0.5, o.cov_logprob = -2, o.cov_advantage = 1, o.cov_least = 2;
  // Covariances: (-1 + 2)(3 - 1) = 2, and (-1.5 + 2)(3 - 1) = 1.
  const Outcome with = evaluate(o, {{-0.9, -1.1}, {}, {-1.0f, -1.5f}, {3, 3}, {}, {}, {}});
  o.kl_cov = 0;
  const Outcome without = evaluate(o, {{-0.9, -1.1}, {}, {-1.0f, -1.5f}, {3, 3}, {}, {}, {}});
  EXPECT_NEAR(with.metrics.loss - without.metrics.loss, 0.5 * 0.1, 1e-12);
  EXPECT_NEAR(with.by_logprob[0] - without.by_logprob[0], 0.5, 1e-12);
  EXPECT_EQ(with.by_logprob[1], without.by_logprob[1]);
}

TEST(Loss, KlEstimators) {
  LossOptions o = options(LossKind::kImportanceSampling);
  o.kl = 0.5;
  const AnswerTokens a{{-1.0}, {}, {-1.0f}, {0.0f}, {}, {}, {-1.2}};
  // k3: x = ref - θ = -0.2; e^x - x - 1 = 0.018730753077981858; derivative 1 - e^x.
  const Outcome k3 = evaluate(o, a);
  EXPECT_NEAR(k3.metrics.loss, 0.5 * 0.018730753077981858, 1e-15);
  EXPECT_NEAR(k3.by_logprob[0], 0.5 * (1 - std::exp(-0.2)), 1e-15);
  o.kl_estimator = KlEstimator::kK2;
  const Outcome k2 = evaluate(o, a);
  EXPECT_NEAR(k2.metrics.loss, 0.5 * 0.02, 1e-15);  // 0.2² / 2
  EXPECT_NEAR(k2.by_logprob[0], 0.5 * 0.2, 1e-15);
}

// Far from the reference k3 pulls back, with a bounded force: beyond d = ref - θ = 3 it continues
// as a straight line.
TEST(Loss, KlPullsBackFromAnyDistance) {
  LossOptions o = options(LossKind::kImportanceSampling);
  o.kl = 1;
  const auto at = [&](double d) {
    return evaluate(o, {{-1.0}, {}, {-1.0f}, {0.0f}, {}, {}, {-1.0 + d}});
  };
  for (const double d : {2.9, 3.1, 10.0, 25.0}) {
    EXPECT_NEAR(at(d).by_logprob[0], 1 - std::exp(std::min(d, 3.0)), 1e-12) << d;
  }
  for (const double d : {-40.0, -25.0, -3.0}) {
    EXPECT_NEAR(at(d).by_logprob[0], 1 - std::exp(d), 1e-12) << d;
  }
  constexpr double kStep = 1e-6;
  for (const double d : {-25.0, 2.0, 4.0, 25.0}) {  // by θ = -1 is minus that by d
    const double by_d = (at(d + kStep).metrics.loss - at(d - kStep).metrics.loss) / (2 * kStep);
    EXPECT_NEAR(at(d).by_logprob[0], -by_d, 1e-6) << d;
  }
}

TEST(Loss, PartsAreReportedApart) {
  LossOptions o = options(LossKind::kPpo, 2);
  o.kl = 0.5;
  o.entropy = 0.1;
  const Outcome a = evaluate(o, {{-0.9}, {2.0}, {-1.0f}, {1.0f}, {}, {}, {-1.2}});
  const double policy = -std::exp(0.1), kl = std::exp(-0.3) + 0.3 - 1;
  EXPECT_NEAR(a.metrics.pg_loss, policy / 2, 1e-7);
  EXPECT_NEAR(a.metrics.kl, kl / 2, 1e-12);
  EXPECT_NEAR(a.metrics.loss, (policy + 0.5 * kl - 0.2) / 2, 1e-7);
}

TEST(Loss, TruncatedImportanceWeight) {
  LossOptions o = options(LossKind::kPpo);
  o.tis = 2;
  // θ_old - q = ln 3, cut to 2; r = exp(θ - θ_old) = 1.1.
  const double start = -2 + std::log(3.0);
  const Outcome cut = evaluate(o, {{start + std::log(1.1)}, {}, {-2.0f}, {1.0f}, {}, {start}, {}});
  EXPECT_NEAR(cut.metrics.loss, -2.2, 1e-12);
  EXPECT_NEAR(cut.by_logprob[0], -2.2, 1e-12);
  EXPECT_NEAR(cut.metrics.logprob_diff_max, std::log(3.0), 1e-12);
}

// Weights 1, 3 cut to 2, and 0.5, of three tokens.
TEST(Loss, ImportanceWeightsAreMeasured) {
  LossOptions o = options(LossKind::kPpo, 3);
  o.tis = 2;
  const std::vector<double> start = {-2, -2 + std::log(3.0), -2 + std::log(0.5)};
  const Outcome all =
      evaluate(o, {start, {}, {-2.0f, -2.0f, -2.0f}, {1.0f, 1.0f, 1.0f}, {}, start, {}});
  EXPECT_NEAR(all.metrics.tis_cut, 1.0 / 3, 1e-12);
  EXPECT_NEAR(all.metrics.tis_weight, 3.5 / 3, 1e-12);
  EXPECT_NEAR(all.metrics.tis_weight_square, 5.25 / 3, 1e-12);
}

TEST(Loss, EntropyIsRewarded) {
  LossOptions o = options(LossKind::kCrossEntropy, 4);
  o.entropy = 0.1;
  const Outcome outcome = evaluate(o, {{-1.0}, {2.0}});
  EXPECT_NEAR(outcome.metrics.loss, (1.0 - 0.2) / 4, 1e-15);
  EXPECT_NEAR(outcome.by_entropy[0], -0.1 / 4, 1e-15);
  EXPECT_NEAR(outcome.metrics.entropy, 0.5, 1e-15);
}

TEST(Loss, Aggregations) {
  const AnswerTokens a{{-1.0, -2.0, -4.0}, {}, {}, {}, {1, 1, 0}, {}, {}};
  LossOptions o = options(LossKind::kCrossEntropy, 10);
  EXPECT_NEAR(evaluate(o, a).metrics.loss, 0.3, 1e-15);  // (1 + 2) / 10
  o.aggregation = KRL_SEQUENCE_MEAN;
  EXPECT_NEAR(evaluate(o, a).metrics.loss, 0.15, 1e-15);  // (3 / 2) / 10
  o.aggregation = KRL_TOKEN_SUM;
  EXPECT_NEAR(evaluate(o, a).metrics.loss, 3.0, 1e-15);
  EXPECT_EQ(evaluate(o, a).by_logprob[2], 0);
}

TEST(Loss, AllWeightsZeroGiveNothing) {
  LossOptions o = options(LossKind::kGspo);
  o.aggregation = KRL_SEQUENCE_MEAN;
  const Outcome outcome = evaluate(o, {{-1.0}, {}, {-1.5f}, {1.0f}, {0.0f}, {}, {}});
  EXPECT_EQ(outcome.metrics.loss, 0);
  EXPECT_EQ(outcome.by_logprob[0], 0);
}

TEST(Loss, PpoKlAndLogprobDifference) {
  const Outcome o = evaluate(options(LossKind::kPpo), {{-0.9}, {}, {-1.0f}, {1.0f}, {}, {}, {}});
  EXPECT_NEAR(o.metrics.ppo_kl, std::exp(0.1) - 0.1 - 1, 1e-12);
  EXPECT_NEAR(o.metrics.logprob_diff_mean, 0.1, 1e-12);
}

// Every loss with a derivative through θ alone (GSPO-token and CISPO take part of theirs as
// constant, by definition).
TEST(Loss, DerivativesAgreeWithFiniteDifferences) {
  constexpr double kStep = 1e-6;
  for (const LossKind kind :
       {LossKind::kCrossEntropy, LossKind::kImportanceSampling, LossKind::kPpo}) {
    LossOptions o = options(kind, 3);
    o.kl = 0.3;
    o.entropy = 0.2;
    AnswerTokens a{{-0.7, -1.3, -2.4, -0.2},     {1, 1, 1, 1},
                   {-0.8f, -0.6f, -2.0f, -1.7f}, {1.0f, -2.0f, 0.5f, -1.0f},
                   {1.0f, 0.5f, 2.0f, 1.0f},     {},
                   {-0.9, -1.0, -2.5, -0.1}};
    const Outcome base = evaluate(o, a);
    for (std::size_t i = 0; i < a.now.size(); ++i) {
      AnswerTokens up = a, down = a;
      up.now[i] += kStep;
      down.now[i] -= kStep;
      const double difference =
          (evaluate(o, up).metrics.loss - evaluate(o, down).metrics.loss) / (2 * kStep);
      EXPECT_NEAR(base.by_logprob[i], difference, 1e-7) << static_cast<int>(kind) << " " << i;
    }
  }
}

std::string refusal(const test::LossSpec& spec) {
  try {
    parse_loss(spec);
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.code(), KRL_INVALID_ARGUMENT);
    return failure.what();
  }
  return "accepted";
}

TEST(ParseLoss, ReadsParameters) {
  const test::LossSpec spec("gspo", 12, {{"clip_low", 0.1}, {"kl", 0.01}, {"kl_estimator", 2}},
                            KRL_SEQUENCE_MEAN, 0.7);
  const LossOptions o = parse_loss(spec);
  EXPECT_EQ(o.kind, LossKind::kGspo);
  EXPECT_EQ(o.clip_low, 0.1);
  EXPECT_EQ(o.kl_estimator, KlEstimator::kK2);
  EXPECT_EQ(o.temperature, 0.7);
  EXPECT_EQ(o.normaliser, 12);
}

TEST(ParseLoss, ErrorsNameTheCulprit) {
  using test::LossSpec;
  EXPECT_NE(refusal(LossSpec("pop", 1)).find("did you mean 'ppo'"), std::string::npos);
  EXPECT_NE(refusal(LossSpec("ppo", 1, {{"clip_lo", 1}})).find("did you mean 'clip_low'"),
            std::string::npos);
  EXPECT_NE(refusal(LossSpec("ppo", 1, {{"clip_low", 2}})).find("loss.clip_low"),
            std::string::npos);
  EXPECT_NE(refusal(LossSpec("ppo", 1, {{"dual_clip", 0.5}})).find("at least 1, or 0"),
            std::string::npos);
  EXPECT_NE(refusal(LossSpec("ppo", 1, {{"kl", NAN}})).find("loss.kl"), std::string::npos);
  EXPECT_NE(refusal(LossSpec("ppo", 0)).find("normaliser"), std::string::npos);
  EXPECT_NE(refusal(LossSpec("ppo", 1, {}, 7)).find("aggregation"), std::string::npos);
  EXPECT_NE(refusal(LossSpec("ppo", 1, {}, KRL_TOKEN_MEAN, 0)).find("temperature"),
            std::string::npos);
}

}  // namespace
}  // namespace krl::libtorch
