// The kernels of right and wrong arithmetic (task_kernels.hpp) on `cpu`. bench/tolerance_bench.cpp
// judges them on any backend and at any size.
#include <gtest/gtest.h>

#include "tests/task_kernels.hpp"
#include "tests/unit/backends/evaluator/cpu_fixture.hpp"

namespace krl::testing {
namespace {

constexpr std::uint32_t kOneEvaluation = KRL_STAGE_COMPILE | KRL_STAGE_CHECK;
constexpr std::uint32_t kAllShapes = kOneEvaluation | KRL_STAGE_HOLDOUT | KRL_STAGE_POOL;

Outcome judged(const char* folder, const std::string& name, std::uint32_t stages) {
  const TaskKernel kernel = task_kernel(kToleranceKernels / folder, name);
  return uncached_backend().evaluate(all_tasks().at(kernel.task), kernel.source, stages);
}

class RightArithmetic : public ::testing::TestWithParam<std::string> {};

TEST_P(RightArithmetic, PassesAtAllShapes) {
  const Outcome outcome = judged("right", GetParam(), kAllShapes);
  EXPECT_EQ(outcome.verdict, Verdict::kOk) << outcome.why << "\n" << outcome.log;
}

INSTANTIATE_TEST_SUITE_P(Kernels, RightArithmetic,
                         ::testing::ValuesIn(kernel_names(kToleranceKernels / "right")),
                         [](const auto& info) { return info.param; });

class WrongArithmetic : public ::testing::TestWithParam<std::string> {};

TEST_P(WrongArithmetic, IsRefusedByOneEvaluation) {
  const Outcome outcome = judged("wrong", GetParam(), kOneEvaluation);
  EXPECT_EQ(outcome.verdict, Verdict::kWrongResult) << outcome.why << "\n" << outcome.log;
}

INSTANTIATE_TEST_SUITE_P(Kernels, WrongArithmetic,
                         ::testing::ValuesIn(kernel_names(kToleranceKernels / "wrong")),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace krl::testing
