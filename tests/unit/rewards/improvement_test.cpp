#include <gtest/gtest.h>

#include <cmath>

#include "tests/unit/rewards/builtin_term.hpp"

namespace krl {
namespace {

using testing::TurnBuilder;

TEST(Improvement, PaysOneForEachDoublingOverTheFastestEarlierKernel) {
  const auto term = builtin_term("improvement");
  EXPECT_DOUBLE_EQ(term.score(faster(4).previous(faster(1))), 2);
  EXPECT_DOUBLE_EQ(term.score(faster(4).previous(faster(1).previous(faster(2)))), 1)
      << "a slow kernel in between earns nothing";
}

TEST(Improvement, PaysNothingForACopyOrLess) {
  const auto term = builtin_term("improvement");
  EXPECT_EQ(term.score(faster(2).previous(faster(2))), 0);
  EXPECT_EQ(term.score(faster(1).previous(faster(2))), 0);
  EXPECT_EQ(term.score(TurnBuilder().verdict(Verdict::kWrongResult).previous(faster(2))), 0);
}

TEST(Improvement, PaysNothingWithoutARightKernelBefore) {
  const auto term = builtin_term("improvement");
  EXPECT_EQ(term.score(faster(2)), 0);
  EXPECT_EQ(term.score(faster(2).previous(TurnBuilder().verdict(Verdict::kWrongResult))), 0);
  EXPECT_EQ(term.score(faster(2).previous(TurnBuilder().passed())), 0) << "it was not timed";
}

}  // namespace
}  // namespace krl
