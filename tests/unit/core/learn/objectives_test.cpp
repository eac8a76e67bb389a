// Advantages against their definitions: expectations over all subsets of a group, and constraints.
#include "core/learn/objectives.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <set>

namespace krl::core {
namespace {

// Members of an episode each.
std::vector<Return> group_of(const std::vector<double>& values) {
  std::vector<Return> returns;
  for (const double value : values) returns.push_back({value, returns.size()});
  return returns;
}

TEST(Advantages, Grpo) {
  // mean 2, sample standard deviation 2 (n - 1 = 2: (4 + 0 + 4) / 2 = 4)
  const std::vector<double> a = group_advantages(group_of({0, 2, 4}), AdvantageKind::kGrpo);
  EXPECT_DOUBLE_EQ(a[0], -2 / (2 + 1e-6));
  EXPECT_DOUBLE_EQ(a[1], 0);
  EXPECT_DOUBLE_EQ(a[2], 2 / (2 + 1e-6));
}

TEST(Advantages, DrGrpo) {
  EXPECT_EQ(group_advantages(group_of({0, 2, 4}), AdvantageKind::kDrGrpo),
            (std::vector<double>{-2, 0, 2}));
}

TEST(Advantages, RlooIsTheDifferenceToTheMeanOfTheOthers) {
  const std::vector<double> a = group_advantages(group_of({0, 2, 7}), AdvantageKind::kRloo);
  EXPECT_DOUBLE_EQ(a[0], 0 - (2 + 7) / 2.0);
  EXPECT_DOUBLE_EQ(a[1], 2 - (0 + 7) / 2.0);
  EXPECT_DOUBLE_EQ(a[2], 7 - (0 + 2) / 2.0);
}

TEST(Advantages, RlooLeavesTheWholeEpisodeOut) {
  const std::vector<Return> returns = {{8, 0}, {6, 0}, {1, 1}, {3, 2}, {5, 2}};
  const std::vector<double> a = group_advantages(returns, AdvantageKind::kRloo);
  EXPECT_DOUBLE_EQ(a[0], 8 - (1 + 3 + 5) / 3.0) << "6 is the same episode's";
  EXPECT_DOUBLE_EQ(a[2], 1 - (8 + 6 + 3 + 5) / 4.0);
  EXPECT_DOUBLE_EQ(a[4], 5 - (8 + 6 + 1) / 3.0);
}

TEST(Advantages, SpreadIsFromTheSmallestReturnToTheLargest) {
  EXPECT_LE(spread_of(group_of({0.3, 0.3, 0.1 + 0.2})), kSameReturn);
  EXPECT_DOUBLE_EQ(spread_of(group_of({0.5, -0.25, 0.25})), 0.75);
  EXPECT_EQ(spread_of({}), 0);
}

// The mean over all choices of k − 1 of the others of the gain of the best by member i, times k.
double enumerated_gain(const std::vector<double>& r, std::size_t i, int k) {
  double sum = 0, choices = 0;
  for (unsigned subset = 0; subset < 1U << r.size(); ++subset) {
    if ((subset >> i & 1U) != 0 || std::popcount(subset) != k - 1) continue;
    double best = -1e9;
    for (std::size_t j = 0; j < r.size(); ++j)
      if ((subset >> j & 1U) != 0) best = std::max(best, r[j]);
    sum += std::max(0.0, r[i] - best);
    ++choices;
  }
  return k * sum / choices;
}

TEST(Advantages, MaxAtKIsTheExpectedGainOverAllChoicesOfTheOthers) {
  const std::vector<double> r = {0.3, 1.7, 0, 0.9, 0.9, 2.4, 0.3};
  for (int k = 2; k <= 7; ++k) {
    const auto a = group_advantages(group_of(r), AdvantageKind::kMaxAtK, {.k = k});
    for (std::size_t i = 0; i < r.size(); ++i)
      EXPECT_NEAR(a[i], enumerated_gain(r, i, k), 1e-12) << k << " " << i;
  }
  EXPECT_EQ(group_advantages(group_of(r), AdvantageKind::kMaxAtK, {.k = 100}),
            group_advantages(group_of(r), AdvantageKind::kMaxAtK, {.k = 7}));
}

// Two outcomes, 1 with probability p: the gradient of E[best of k] = 1 − (1 − p)^k by p.
TEST(Advantages, MaxAtKEstimatesTheGradientOfTheBestOfK) {
  constexpr int kSize = 6, kBest = 3;
  constexpr double p = 0.3;
  double gradient = 0;
  for (unsigned group = 0; group < 1U << kSize; ++group) {
    std::vector<double> r;
    double chance = 1;
    for (unsigned i = 0; i < kSize; ++i) {
      r.push_back(group >> i & 1U);
      chance *= r.back() > 0 ? p : 1 - p;
    }
    const auto a = group_advantages(group_of(r), AdvantageKind::kMaxAtK, {.k = kBest});
    for (unsigned i = 0; i < kSize; ++i)
      gradient += chance * a[i] * (r[i] > 0 ? 1 / p : -1 / (1 - p)) / kSize;
  }
  EXPECT_NEAR(gradient, kBest * std::pow(1 - p, kBest - 1), 1e-12);
}

TEST(Advantages, EntropicHasTheDivergenceThatIsAskedFor) {
  const std::vector<double> r = {0.3, 1.7, 0, 0.9, 0.9, 2.4, 0.3, 0};
  for (const double tilt : {0.01, std::log(2.0), 1.5}) {
    const auto a = group_advantages(group_of(r), AdvantageKind::kEntropic, {.tilt = tilt});
    double divergence = 0, sum = 0;
    for (const double value : a) {
      divergence += (value + 1) / 8 * std::log(value + 1);
      sum += value;
    }
    EXPECT_NEAR(divergence, tilt, 1e-9);
    EXPECT_NEAR(sum, 0, 1e-9);
    // q ∝ exp(β R): the same β between any two.
    const double beta = std::log((a[5] + 1) / (a[1] + 1)) / (r[5] - r[1]);
    EXPECT_NEAR(std::log((a[3] + 1) / (a[2] + 1)), beta * (r[3] - r[2]), 1e-6);
    EXPECT_GT(beta, 0);
  }
}

TEST(Advantages, EntropicPutsAllOnTheBestIfTheGroupAllowsNoMore) {
  const auto a = group_advantages(group_of({1, 0, 1, 0}), AdvantageKind::kEntropic, {.tilt = 1});
  EXPECT_NEAR(a[0], 1, 1e-6);  // q = 1/2
  EXPECT_NEAR(a[1], -1, 1e-6);
}

TEST(Advantages, QuantileCountsOnlyWhatIsAboveIt) {
  const auto a =
      group_advantages(group_of({4, 0, 1, 2, 3}), AdvantageKind::kQuantile, {.quantile = 0.75});
  EXPECT_EQ(a, (std::vector<double>{(4 - 3) / 0.25, 0, 0, 0, 0}));
  const auto b = group_advantages(group_of({0, 1}), AdvantageKind::kQuantile, {.quantile = 0.5});
  EXPECT_EQ(b, (std::vector<double>{0, 1})) << "halfway between them";
}

TEST(Advantages, UnlikelyRightAnswersAreWorthMore) {
  std::vector<Return> returns = group_of({2, 2, 2, 0.5, -1});
  weigh_unlikely(returns, {{-1, true}, {-9, true}, {-3, true}, {-50, false}, {-2, true}}, 0.5);
  EXPECT_DOUBLE_EQ(returns[0].value, 2 * (1 - 0.5 * 5 / 5)) << "the likeliest";
  EXPECT_DOUBLE_EQ(returns[2].value, 2 * (1 - 0.5 * 3 / 5));
  EXPECT_DOUBLE_EQ(returns[1].value, 2 * (1 - 0.5 * 2 / 5));
  EXPECT_DOUBLE_EQ(returns[3].value, 0.5) << "wrong";
  EXPECT_DOUBLE_EQ(returns[4].value, -1) << "not worth anything";
}

Example example(std::vector<float> logprobs, float advantage) {
  Example e;
  e.tokens.resize(logprobs.size());
  e.weights.assign(logprobs.size(), 1);
  e.advantages.assign(logprobs.size(), advantage);
  e.logprobs = std::move(logprobs);
  return e;
}

// Log-probabilities −1, −3, 0, −4 with the mean −2; advantages 1, 1, −1, −1 with the mean 0: the
// covariances are 1, −1, −2 and 2. The last token is not learned from.
std::vector<Example> four_tokens() {
  std::vector<Example> examples = {example({-1, -3}, 1), example({0, -4, -70}, -1)};
  examples[1].weights[2] = 0;
  return examples;
}

TEST(TokenCovariance, ThoseWithTheLargestAreNamedByALimit) {
  const std::vector<LossParameter> penalty = Covariance(four_tokens()).penalty(0.5, 0.1);
  std::map<std::string, double> by_name;
  for (const LossParameter& p : penalty) by_name[p.name] = p.value;
  EXPECT_EQ(by_name,
            (std::map<std::string, double>{
                {"kl_cov", 0.1}, {"cov_logprob", -2}, {"cov_advantage", 0}, {"cov_least", 1}}));
  EXPECT_TRUE(Covariance(four_tokens()).penalty(0.1, 1).empty());
  EXPECT_TRUE(Covariance({}).penalty(1, 1).empty());
}

TEST(TokenCovariance, SomeWithinABandAreLeftOut) {
  std::set<std::size_t> left_out;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    std::vector<Example> examples = four_tokens();
    Covariance(examples).clip(examples, 0.25, -1, 1, seed);
    EXPECT_EQ(examples[1].weights, (std::vector<float>{1, 1, 0})) << "out of the band";
    EXPECT_EQ(examples[0].weights[0] + examples[0].weights[1], 1) << "one of four tokens";
    left_out.insert(examples[0].weights[0] == 0 ? 0 : 1);
  }
  EXPECT_EQ(left_out.size(), 2U);
}

}  // namespace
}  // namespace krl::core
