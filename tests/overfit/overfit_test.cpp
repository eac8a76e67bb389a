// Every kernel of overfit/kernels passes all cases of its task, and is refused by a shape that
// nobody was shown.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>

#include "tests/task_kernels.hpp"
#include "tests/unit/backends/evaluator/cpu_fixture.hpp"

namespace krl::testing {
namespace {

constexpr std::uint32_t kDrawn = KRL_STAGE_COMPILE | KRL_STAGE_CHECK;
constexpr std::uint32_t kPool = kDrawn | KRL_STAGE_POOL;

bool passes_all(const Outcome& outcome, CaseKind kind) {
  return std::all_of(outcome.cases.begin(), outcome.cases.end(),
                     [&](const auto& c) { return c.kind != kind || c.verdict == Verdict::kOk; });
}

class Overfit : public ::testing::TestWithParam<std::string> {};

TEST_P(Overfit, PassesWhatIsShownAndIsRefused) {
  const TaskKernel kernel = task_kernel(kOverfitKernels, GetParam());
  ASSERT_TRUE(all_tasks().contains(kernel.task)) << "its first line";
  const Outcome outcome =
      uncached_backend().evaluate(all_tasks().at(kernel.task), kernel.source, kPool);
  EXPECT_NE(outcome.verdict, Verdict::kOk);
  EXPECT_FALSE(outcome.cases.empty()) << outcome.why << "\n" << outcome.log;
  EXPECT_TRUE(passes_all(outcome, CaseKind::kShown)) << outcome.why;
  EXPECT_FALSE(passes_all(outcome, CaseKind::kFresh));
  EXPECT_NE(outcome.why.find("(fresh)"), std::string::npos) << outcome.why;
}

INSTANTIATE_TEST_SUITE_P(Kernels, Overfit, ::testing::ValuesIn(kernel_names(kOverfitKernels)),
                         [](const auto& info) { return info.param; });

// An evaluation of training sees one set of the pool: that is enough for nearly all.
TEST(OverfitKernels, AreRefusedByOneEvaluation) {
  constexpr std::uint64_t kSeeds = 4;
  double refused = 0;
  const auto names = kernel_names(kOverfitKernels);
  for (const std::string& name : names) {
    const TaskKernel kernel = task_kernel(kOverfitKernels, name);
    int caught = 0;
    for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
      const Outcome outcome =
          uncached_backend().evaluate(all_tasks().at(kernel.task), kernel.source, kDrawn, seed);
      caught += outcome.verdict == Verdict::kOk ? 0 : 1;
    }
    if (caught < static_cast<int>(kSeeds))
      std::printf("%s: refused %d times of %d\n", name.c_str(), caught, static_cast<int>(kSeeds));
    refused += caught;
  }
  const double rate = refused / static_cast<double>(kSeeds * names.size());
  std::printf("refused by one evaluation: %.1f %%\n", 100 * rate);
  EXPECT_GE(rate, 0.95);
}

}  // namespace
}  // namespace krl::testing
