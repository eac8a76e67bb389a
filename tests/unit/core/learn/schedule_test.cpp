#include "core/learn/optimizer_step.hpp"

#include <gtest/gtest.h>

namespace krl::core {
namespace {

TEST(Schedule, WarmsUpAndStaysConstant) {
  OptimizerSettings s;
  s.lr = 1;
  s.warmup = 4;
  EXPECT_DOUBLE_EQ(optimizer_at(s, 9, 0, 100).lr, 0.25);
  EXPECT_DOUBLE_EQ(optimizer_at(s, 9, 3, 100).lr, 1);
  EXPECT_DOUBLE_EQ(optimizer_at(s, 9, 99, 100).lr, 1);
}

TEST(Schedule, CosineAndLinearEndAtTheLeast) {
  OptimizerSettings s;
  s.lr = 1;
  s.min_lr = 0.1;
  s.schedule = Schedule::kCosine;
  EXPECT_DOUBLE_EQ(optimizer_at(s, 9, 0, 11).lr, 1);
  EXPECT_DOUBLE_EQ(optimizer_at(s, 9, 5, 11).lr, 0.55);
  EXPECT_DOUBLE_EQ(optimizer_at(s, 9, 10, 11).lr, 0.1) << "the last of eleven steps";
  s.schedule = Schedule::kLinear;
  EXPECT_DOUBLE_EQ(optimizer_at(s, 9, 5, 11).lr, 0.55);
  EXPECT_DOUBLE_EQ(optimizer_at(s, 9, 1000, 10).lr, 0.1);
}

TEST(Schedule, APlanWithoutALearningRateHasThatOfWhatIsTrained) {
  PolicyInfo whole, adapters;
  whole.exports = KRL_WEIGHTS_HF;
  adapters.exports = KRL_WEIGHTS_HF | KRL_WEIGHTS_PEFT;
  const OptimizerSettings none;
  const auto lr = [&](const PolicyInfo& info) {
    return optimizer_at(none, default_lr(info, kLrOfReinforcement), 0, 10).lr;
  };
  EXPECT_DOUBLE_EQ(lr(whole), 1e-6);
  EXPECT_DOUBLE_EQ(lr(adapters), 4e-5);
  OptimizerSettings zero;
  zero.lr = 0;
  EXPECT_EQ(optimizer_at(zero, 1, 0, 10).lr, 0);
}

}  // namespace
}  // namespace krl::core
