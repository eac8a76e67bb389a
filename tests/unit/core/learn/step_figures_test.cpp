#include "core/learn/step_figures.hpp"

#include <gtest/gtest.h>

namespace krl::core {
namespace {

TEST(StepFigures, APolicysOwnAreMeansOverTheSteps) {
  StepFigures figures("x");
  figures.begin_iteration();
  ASSERT_TRUE(figures.add({{"acme.norm", 1}, {"acme.peak_max", 5}, {"loss", 7}}));
  ASSERT_TRUE(
      figures.add({{"acme.norm", 2}, {"acme.peak_max", 3}, {"Acme.norm", 1}, {"a/b.c", 1}}));
  EXPECT_EQ(figures.own(), (Metrics{{"actor/acme.norm", 1.5}, {"actor/acme.peak_max", 5}}));
  figures.begin_iteration();
  EXPECT_EQ(figures.own(), Metrics{});
}

}  // namespace
}  // namespace krl::core
