#include "core/learn/schedule.hpp"

#include <gtest/gtest.h>

namespace krl {
namespace {

TEST(Schedule, WarmsUpAndStaysConstant) {
  OptimizerSettings s;
  s.lr = 1;
  s.warmup = 4;
  EXPECT_DOUBLE_EQ(optimizer_at(s, 0, 100).lr, 0.25);
  EXPECT_DOUBLE_EQ(optimizer_at(s, 3, 100).lr, 1);
  EXPECT_DOUBLE_EQ(optimizer_at(s, 99, 100).lr, 1);
}

TEST(Schedule, CosineAndLinearEndAtTheLeast) {
  OptimizerSettings s;
  s.lr = 1;
  s.min_lr = 0.1;
  s.schedule = Schedule::kCosine;
  EXPECT_DOUBLE_EQ(optimizer_at(s, 0, 11).lr, 1);
  EXPECT_DOUBLE_EQ(optimizer_at(s, 5, 11).lr, 0.55);
  EXPECT_DOUBLE_EQ(optimizer_at(s, 10, 11).lr, 0.1) << "the last of eleven steps";
  s.schedule = Schedule::kLinear;
  EXPECT_DOUBLE_EQ(optimizer_at(s, 5, 11).lr, 0.55);
  EXPECT_DOUBLE_EQ(optimizer_at(s, 1000, 10).lr, 0.1);
}

}  // namespace
}  // namespace krl
