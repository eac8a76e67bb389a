#include "core/learn/gae.hpp"

#include <gtest/gtest.h>

#include <random>

namespace krl::core {
namespace {

// The steps with every masked one merged into the one before it.
std::vector<Step> merged(const std::vector<Step>& steps) {
  std::vector<Step> result;
  for (const Step& step : steps) {
    if (!step.masked) {
      result.push_back(step);
    } else if (!result.empty()) {
      result.back().reward += result.back().discount * step.reward;
      result.back().discount *= step.discount;
    }
  }
  return result;
}

// By the definition: Σ_l (Π_{j<l} γ_{t+j} · λ) · δ_{t+l}, for every step from scratch.
std::vector<double> by_definition(const std::vector<Step>& steps, double lambda) {
  std::vector<double> advantages;
  for (std::size_t t = 0; t < steps.size(); ++t) {
    double sum = 0, factor = 1;
    for (std::size_t i = t; i < steps.size(); ++i) {
      const double next = i + 1 < steps.size() ? steps[i + 1].value : 0;
      sum += factor * (steps[i].reward + steps[i].discount * next - steps[i].value);
      factor *= steps[i].discount * lambda;
    }
    advantages.push_back(sum);
  }
  return advantages;
}

std::vector<Step> random_steps(std::mt19937& random, double masked) {
  std::uniform_real_distribution<double> uniform(0, 1);
  std::vector<Step> steps(static_cast<std::size_t>(1 + random() % 40));
  for (Step& step : steps)
    step = {uniform(random), uniform(random), 2 * uniform(random) - 1, uniform(random) < masked};
  return steps;
}

TEST(Gae, IsTheSumOfItsDefinition) {
  std::mt19937 random(5);
  for (int i = 0; i < 200; ++i) {
    const std::vector<Step> steps = random_steps(random, i % 2 == 0 ? 0.0 : 0.4);
    const double lambda = (i % 5) / 4.0;
    const std::vector<double> expected = by_definition(merged(steps), lambda);
    std::vector<double> actual;
    const std::vector<double> all = gae_advantages(steps, lambda);
    for (std::size_t t = 0; t < steps.size(); ++t) {
      if (steps[t].masked) {
        EXPECT_EQ(all[t], 0);
      } else {
        actual.push_back(all[t]);
      }
    }
    ASSERT_EQ(actual.size(), expected.size());
    for (std::size_t t = 0; t < actual.size(); ++t) EXPECT_NEAR(actual[t], expected[t], 1e-9);
  }
}

TEST(Gae, WithLambdaOneIsTheReturnLessTheValue) {
  // Returns 1 + 0.5 · (0 + 1 · 3) = 2.5, 3, 3.
  const std::vector<double> advantages =
      gae_advantages({{1, 0.5, 0.25}, {0, 1, 1}, {3, 1, -1}}, 1.0);
  EXPECT_DOUBLE_EQ(advantages[0], 2.25);
  EXPECT_DOUBLE_EQ(advantages[1], 2);
  EXPECT_DOUBLE_EQ(advantages[2], 4);
}

TEST(Gae, WithLambdaZeroLooksOneStepAhead) {
  const std::vector<double> advantages = gae_advantages({{1, 0.5, 0.25}, {0, 1, 1}}, 0.0);
  EXPECT_DOUBLE_EQ(advantages[0], 1 + 0.5 * 1 - 0.25);
  EXPECT_DOUBLE_EQ(advantages[1], -1);
}

TEST(Gae, WhatAMaskedStepEarnedGoesToTheOneBefore) {
  const std::vector<double> advantages =
      gae_advantages({{0, 1, 0.5}, {2, 0.5, 100, true}, {4, 1, 1}}, 1.0);
  EXPECT_DOUBLE_EQ(advantages[0], 2 + 0.5 * 4 - 0.5) << "its value is not asked for";
  EXPECT_EQ(advantages[1], 0);
}

TEST(Gae, OfNothingIsNothing) { EXPECT_TRUE(gae_advantages({}, 0.95).empty()); }

}  // namespace
}  // namespace krl::core
