// The `cpu` backend from end to end.
#include <gtest/gtest.h>

#include "plugins/backends/evaluator/evaluation_record.hpp"
#include "tests/unit/backends/evaluator/cpu_fixture.hpp"

namespace krl::testing {
using namespace evaluator;
namespace {

const CpuInstance& backend() {
  static const CpuInstance instance(Table{{"cache", "off"}});
  return instance;
}

std::vector<std::string> task_ids() {
  std::vector<std::string> ids;
  for (const auto& [id, task] : all_tasks()) ids.push_back(id);
  return ids;
}

class EveryTask : public ::testing::TestWithParam<std::string> {};

// The reference compiles, the naive kernel is right on all cases and hold-outs, nothing lazy
// passes.
TEST_P(EveryTask, IsFitToBeLearnedFrom) { backend().prepare(all_tasks().at(GetParam())); }

TEST_P(EveryTask, NaiveKernelIsAsFastAsItself) {
  const TaskText& task = all_tasks().at(GetParam());
  const Outcome outcome = backend().evaluate(task, naive_of(task));
  ASSERT_EQ(outcome.verdict, Verdict::kOk) << outcome.why << "\n" << outcome.log;
  for (const auto& c : outcome.cases) {
    EXPECT_EQ(c.verdict, Verdict::kOk) << c.label;
    if (c.kind != CaseKind::kShown) continue;
    EXPECT_DOUBLE_EQ(c.speedup, 1) << c.label;
    EXPECT_GT(c.time_ns, 0) << c.label;
  }
}

// Its work, at the peak rates of the modelled GPU, takes less than it does.
TEST_P(EveryTask, NaiveKernelIsBelowTheRoofline) {
  const TaskText& task = all_tasks().at(GetParam());
  const Outcome outcome = backend().evaluate(task, naive_of(task));
  const auto roofline = outcome.values.find("roofline");
  ASSERT_NE(roofline, outcome.values.end());
  EXPECT_GT(roofline->second, 0);
  EXPECT_LT(roofline->second, 1);
}

INSTANTIATE_TEST_SUITE_P(Tasks, EveryTask, ::testing::ValuesIn(task_ids()),
                         [](const auto& info) { return info.param; });

TEST(CpuBackend, ALostUpdateSaysWhereWarpsMeet) {
  const Outcome outcome = backend().evaluate(all_tasks().at("total_sum"), R"(
// @launch clear<<<1, 1>>>(y)
// @launch kern<<<ceil_div(n, 512), 32>>>(x, y, n)
__global__ void clear(float* y) { *y = 0; }
__global__ void kern(const float* x, float* y, int n) {
  float sum = 0;
  for (int i = blockIdx.x * 512 + threadIdx.x; i < min(n, (blockIdx.x + 1) * 512); i += 32) sum += x[i];
  for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(~0u, sum, d);
  if (threadIdx.x != 0) return;
  __threadfence();
  y[0] += sum;
  __threadfence();
})");
  EXPECT_EQ(outcome.verdict, Verdict::kNondeterministic);
  EXPECT_NE(outcome.why.find("where they meet: y[0] (line 11); update memory that warps share with "
                             "one atomic operation"),
            std::string::npos)
      << outcome.why;
}

}  // namespace
}  // namespace krl::testing
