// kernelrl's gradient, from log-probabilities that a service returns and from its own losses.
#include <gtest/gtest.h>

#include <random>

#include "plugins/policies/tinker/loss_gradients.hpp"
#include "plugins/policies/tinker/service_loss.hpp"
#include "tests/unit/policies/tinker/emulated_gradient.hpp"

namespace krl::tinker {
namespace {

using policies::LossKind;
using policies::LossMetrics;
using policies::LossOptions;
using testing::emulated_gradient;

constexpr LossKind kKinds[] = {LossKind::kCrossEntropy, LossKind::kImportanceSampling,
                               LossKind::kPpo, LossKind::kGspo, LossKind::kCispo};

class Numbers {
 public:
  explicit Numbers(unsigned seed) : random_(seed) {}
  std::vector<float> normal(std::size_t n, double mean, double deviation) {
    std::normal_distribution<double> distribution(mean, deviation);
    std::vector<float> values(n);
    for (float& value : values) value = static_cast<float>(distribution(random_));
    return values;
  }
  std::vector<float> around(const std::vector<float>& center, double deviation) {
    std::vector<float> values = normal(center.size(), 0, deviation);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] += center[i];
    return values;
  }

 private:
  std::mt19937 random_;
};

// An answer of `n` tokens, and θ; ratios from 0.5 to 2, so that clips are met on both sides.
struct Case {
  LearnedExample example;
  std::vector<float> now;
};

Case make_case(Numbers& numbers, std::size_t prompt, std::size_t n, bool positive) {
  Case made;
  made.example.prompt.assign(prompt, 3);
  made.example.tokens.assign(n, 7);
  made.now = numbers.normal(n, -3, 0.8);
  made.example.old_logprobs = numbers.around(made.now, 0.3);
  made.example.sampled = numbers.around(made.example.old_logprobs, 0.4);
  made.example.reference_logprobs = numbers.around(made.now, 0.5);
  made.example.advantages = numbers.normal(n, 0, 1);
  if (positive) {
    for (float& a : made.example.advantages) a = std::fabs(a);
  }
  made.example.weights.assign(n, 1);
  made.example.weights[n / 2] = 0;
  made.example.weights[n - 1] = 0.5;
  return made;
}

LossOptions options_of(LossKind kind, double tis, std::uint32_t aggregation) {
  LossOptions options;
  options.kind = kind;
  options.tis = tis;
  options.aggregation = aggregation;
  options.normaliser = 13;
  return options;
}

double loss_at(const LossOptions& options, const Case& at, std::size_t token, double moved) {
  std::vector<float> now = at.now;
  now[token] = static_cast<float>(now[token] + moved);
  LossMetrics metrics;
  loss_gradient(options, at.example, now, metrics);
  return metrics.loss;
}

// Where the loss is a function of θ: not cispo and gspo, which take a ratio as a constant.
TEST(TinkerLossGradient, IsTheLosssDerivative) {
  Numbers numbers(1);
  for (const LossKind kind :
       {LossKind::kCrossEntropy, LossKind::kImportanceSampling, LossKind::kPpo}) {
    for (const double tis : {0.0, 1.2}) {
      for (const double kl : {0.0, 0.3}) {
        LossOptions options = options_of(kind, tis, KRL_TOKEN_MEAN);
        options.kl = kl;
        const Case at = make_case(numbers, 4, 60, false);
        LossMetrics metrics;
        const auto gradient = loss_gradient(options, at.example, at.now, metrics);
        for (std::size_t i = 0; i < at.now.size(); ++i) {
          // In steps that float holds exactly.
          constexpr double kStep = 1.0 / 1024;
          const double slope =
              (loss_at(options, at, i, kStep) - loss_at(options, at, i, -kStep)) / (2 * kStep);
          const double left =
                           (loss_at(options, at, i, 0) - loss_at(options, at, i, -kStep)) / kStep,
                       right =
                           (loss_at(options, at, i, kStep) - loss_at(options, at, i, 0)) / kStep;
          if (std::fabs(left - right) > 0.02 * std::fabs(slope) + 1e-4) continue;  // a clip's edge
          EXPECT_NEAR(gradient[i], slope, 1e-3 * std::fabs(slope) + 1e-6)
              << static_cast<int>(kind) << " tis " << tis << " kl " << kl << " token " << i;
        }
      }
    }
  }
}

TEST(TinkerLossGradient, OfCispoAndGspo) {
  Numbers numbers(2);
  const Case at = make_case(numbers, 1, 30, true);
  const LearnedExample& example = at.example;
  LossMetrics metrics;
  const LossOptions cispo = options_of(LossKind::kCispo, 0, KRL_TOKEN_SUM);
  const auto by_cispo = loss_gradient(cispo, example, at.now, metrics);
  double log_ratio = 0, weights = 0;
  for (std::size_t i = 0; i < at.now.size(); ++i) {
    const double ratio = std::exp(static_cast<double>(at.now[i]) - example.sampled[i]);
    const double expected =
        -std::clamp(ratio, 0.8, 1.28) * example.advantages[i] * example.weights[i];
    EXPECT_NEAR(by_cispo[i], expected, 1e-9) << i;
    log_ratio += example.weights[i] * (static_cast<double>(at.now[i]) - example.old_logprobs[i]);
    weights += example.weights[i];
  }
  LossOptions gspo = options_of(LossKind::kGspo, 2, KRL_TOKEN_SUM);
  gspo.clip_low = 1, gspo.clip_high = 100;  // nothing is clipped
  const auto by_gspo = loss_gradient(gspo, example, at.now, metrics);
  const double ratio = std::exp(log_ratio / weights);
  for (std::size_t i = 0; i < at.now.size(); ++i) {
    const double trust =
        std::min(std::exp(static_cast<double>(example.old_logprobs[i]) - example.sampled[i]), 2.0);
    EXPECT_NEAR(by_gspo[i], -ratio * trust * example.advantages[i] * example.weights[i], 1e-9) << i;
  }
}

// What the service does with our data is kernelrl's gradient, in whatever way they go there.
class ServiceGradient
    : public ::testing::TestWithParam<std::tuple<LossKind, double, double, bool>> {};

void expect_gradient(const std::vector<double>& service, const std::vector<double>& expected,
                     std::size_t prompt, const std::string& where) {
  ASSERT_EQ(service.size(), prompt - 1 + expected.size());
  for (std::size_t i = 0; i + 1 < prompt; ++i) EXPECT_EQ(service[i], 0) << where << " prompt " << i;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_NEAR(service[prompt - 1 + i], expected[i], 3e-6 * std::fabs(expected[i]) + 1e-9)
        << where << " token " << i;
  }
}

TEST_P(ServiceGradient, IsKernelrls) {
  const auto [kind, tis, kl, positive] = GetParam();
  Numbers numbers(3);
  std::vector<Case> cases;
  std::vector<LearnedExample> examples;
  for (const std::size_t n : {40u, 7u, 90u}) {
    cases.push_back(make_case(numbers, n / 5, n, positive));
    examples.push_back(cases.back().example);
  }
  cases.push_back(make_case(numbers, 1, 12, positive));
  cases.back().example.weights.clear();
  examples.push_back(cases.back().example);
  for (const std::uint32_t aggregation : {KRL_TOKEN_MEAN, KRL_SEQUENCE_MEAN, KRL_TOKEN_SUM}) {
    for (const Gradients gradients : {Gradients::kSum, Gradients::kMean}) {
      LossOptions options = options_of(kind, tis, aggregation);
      options.kl = kl;
      const auto own = own_loss(options, examples, gradients);
      for (const Case& at : cases) {
        LossMetrics metrics;
        const auto expected = loss_gradient(options, at.example, at.now, metrics);
        std::vector<double> now(at.example.prompt.size() - 1, -4.5);
        now.insert(now.end(), at.now.begin(), at.now.end());
        const Datum linear = linear_loss_datum(at.example, expected, gradients, cases.size());
        expect_gradient(
            emulated_gradient(linear_loss(gradients), linear, now, gradients, cases.size()),
            expected, at.example.prompt.size(), "linear");
        if (!own) continue;
        const Datum datum = own_loss_datum(options, at.example, gradients, cases.size());
        expect_gradient(emulated_gradient(*own, datum, now, gradients, cases.size()), expected,
                        at.example.prompt.size(), own->loss_fn);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, ServiceGradient,
                         ::testing::Combine(::testing::ValuesIn(kKinds), ::testing::Values(0., 2.),
                                            ::testing::Values(0., 0.1), ::testing::Bool()));

TEST(TinkerServiceLoss, IsTheServicesOwnWhereItHasOne) {
  Numbers numbers(4);
  const std::vector<LearnedExample> any = {make_case(numbers, 2, 9, false).example},
                                    positive = {make_case(numbers, 2, 9, true).example};
  const auto name = [](const LossOptions& options, const std::vector<LearnedExample>& examples,
                       Gradients gradients) {
    const auto own = own_loss(options, examples, gradients);
    return own ? own->loss_fn : "none";
  };
  const auto options = [](LossKind kind) { return options_of(kind, 2, KRL_TOKEN_MEAN); };
  using enum Gradients;
  EXPECT_EQ(name(options(LossKind::kImportanceSampling), any, kMean), "importance_sampling");
  EXPECT_EQ(name(options(LossKind::kCispo), any, kSum), "cispo");
  EXPECT_EQ(name(options(LossKind::kCrossEntropy), any, kSum), "cross_entropy");
  EXPECT_EQ(name(options(LossKind::kCrossEntropy), any, kMean), "none");
  EXPECT_EQ(name(options(LossKind::kGspo), positive, kSum), "none");
  EXPECT_EQ(name(options(LossKind::kPpo), any, kSum), "none");  // its dual clip may bind
  EXPECT_EQ(name(options(LossKind::kPpo), positive, kSum), "ppo");
  LossOptions ppo = options(LossKind::kPpo);
  ppo.dual_clip = 0;
  EXPECT_EQ(name(ppo, any, kSum), "ppo");
  ppo.kl = 0.1;
  EXPECT_EQ(name(ppo, any, kSum), "none");
}

TEST(TinkerServiceLoss, ThresholdsAreBoundsOfTheRatio) {
  LossOptions options = options_of(LossKind::kCispo, 0, KRL_TOKEN_MEAN);
  options.clip_low = 1, options.clip_high = 4;
  const auto own = own_loss(options, {}, Gradients::kSum);
  EXPECT_EQ(testing::threshold_of(*own, "clip_low_threshold"), 0);
  EXPECT_EQ(testing::threshold_of(*own, "clip_high_threshold"), 5);
}

TEST(TinkerServiceLoss, AnswersLogprobsAreOfTheAnswersTokens) {
  LearnedExample example;
  example.prompt = {1, 2, 3};
  example.tokens = {4, 5};
  const Datum datum = forward_datum(example);
  EXPECT_EQ(datum.tokens, (std::vector<TokenId>{1, 2, 3, 4}));
  EXPECT_EQ(std::get<std::vector<std::int64_t>>(datum.inputs[0].second),
            (std::vector<std::int64_t>{2, 3, 4, 5}));
  EXPECT_EQ(answer_logprobs(example, {-9, -8, -1, -2}), (std::vector<float>{-1, -2}));
  const auto refused = [&](const std::vector<float>& logprobs) {
    try {
      answer_logprobs(example, logprobs);
    } catch (const Failure& failure) {
      EXPECT_EQ(failure.code(), KRL_UNAVAILABLE);
      return std::string(failure.what());
    }
    return std::string();
  };
  EXPECT_EQ(refused({-9, -8, -1}), "the service gave 3 log-probabilities for 4 target tokens");
  EXPECT_EQ(refused({-9, -8, -1, NAN}),
            "the service gave nan as the log-probability of answer token 1");
  EXPECT_EQ(refused({-9, -8, 0.5, -1}),
            "the service gave 0.500000 as the log-probability of answer token 0");
  EXPECT_EQ(refused({NAN, NAN, -1, -1}), "");  // what the prompt says of itself is not used
}

}  // namespace
}  // namespace krl::tinker
