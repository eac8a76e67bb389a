// register_pressure, shared_memory, occupancy: what follows from the compiled kernels.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/unit/rewards/builtin_term.hpp"

namespace krl {
namespace {

using testing::TurnBuilder;

TEST(RegisterPressure, RisesFromTheLimitToTheHardware) {
  const auto term = builtin_term("register_pressure", {{"limit", 55}});
  EXPECT_EQ(term.score(TurnBuilder().kernel(16)), 0);
  EXPECT_EQ(term.score(TurnBuilder().kernel(55)), 0);
  EXPECT_EQ(term.score(TurnBuilder().kernel(105)), -0.25);
  EXPECT_EQ(term.score(TurnBuilder().kernel(255)), -1);
}

TEST(RegisterPressure, TheNeediestKernelCounts) {
  const auto term = builtin_term("register_pressure", {{"limit", 55}});
  EXPECT_EQ(term.score(TurnBuilder().kernel(32).kernel(105).kernel(-1)), -0.25);
}

TEST(RegisterPressure, UnknownCostsNothing) {
  const auto term = builtin_term("register_pressure");
  EXPECT_EQ(term.score(TurnBuilder().kernel(-1)), 0);
  EXPECT_EQ(term.score(TurnBuilder()), 0);
}

TEST(SharedMemory, RisesFromTheLimitToTheHardware) {
  const auto term = builtin_term("shared_memory", {{"limit", 27 * 1024}});
  EXPECT_EQ(term.score(TurnBuilder().kernel(32, 0)), 0);
  EXPECT_EQ(term.score(TurnBuilder().kernel(32, 27 * 1024)), 0);
  EXPECT_EQ(term.score(TurnBuilder().kernel(32, 127 * 1024)), -0.5);
  EXPECT_EQ(term.score(TurnBuilder().kernel(32, 227 * 1024)), -1);
  EXPECT_EQ(term.score(TurnBuilder().kernel(32, 1 << 30)), -1);
}

TEST(SharedMemory, DefaultIsTheStaticLimit) {
  const auto term = builtin_term("shared_memory");
  EXPECT_EQ(term.score(TurnBuilder().kernel(32, 48 * 1024)), 0);
  EXPECT_LT(term.score(TurnBuilder().kernel(32, 49 * 1024)), 0);
  EXPECT_EQ(term.score(TurnBuilder().kernel(32, -1)), 0);
}

TEST(Occupancy, PaysUpToTheTarget) {
  const auto term = builtin_term("occupancy", {{"target", 0.5}});
  EXPECT_EQ(term.score(TurnBuilder().kernel(32, 0, 0.25)), 0.5);
  EXPECT_EQ(term.score(TurnBuilder().kernel(32, 0, 0.5)), 1);
  EXPECT_EQ(term.score(TurnBuilder().kernel(32, 0, 1.0)), 1);
}

TEST(Occupancy, TheKernelThatFillsLeastCounts) {
  const auto term = builtin_term("occupancy");
  EXPECT_EQ(term.score(TurnBuilder().kernel(32, 0, 0.75).kernel(32, 0, 0.25)), 0.25);
}

TEST(Occupancy, UnknownKernelsDoNotHideKnownOnes) {
  const auto term = builtin_term("occupancy");
  EXPECT_EQ(term.score(TurnBuilder().kernel(32, 0, 0.5).kernel(32)), 0.5);
  EXPECT_EQ(term.score(TurnBuilder().kernel(32).kernel(32, 0, 0.5)), 0.5);
  EXPECT_EQ(term.score(TurnBuilder().kernel(32)), 0);
  EXPECT_EQ(term.score(TurnBuilder()), 0);
}

}  // namespace
}  // namespace krl
