// Every task of configs/tasks and its naive kernel, before the `cpu` backend.
#include <gtest/gtest.h>

#include "plugins/backends/evaluator/evaluation_record.hpp"
#include "tests/unit/backends/evaluator/cpu_fixture.hpp"

namespace krl::testing {
using namespace evaluator;
namespace {

const CpuInstance& judge_of_tasks() {
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
TEST_P(EveryTask, IsFitToBeLearnedFrom) { judge_of_tasks().prepare(all_tasks().at(GetParam())); }

TEST_P(EveryTask, NaiveKernelIsAsFastAsItself) {
  const TaskText& task = all_tasks().at(GetParam());
  const Outcome outcome = judge_of_tasks().evaluate(task, naive_of(task));
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
  const Outcome outcome = judge_of_tasks().evaluate(task, naive_of(task));
  const auto roofline = outcome.values.find("roofline");
  ASSERT_NE(roofline, outcome.values.end());
  EXPECT_GT(roofline->second, 0);
  EXPECT_LT(roofline->second, 1);
}

INSTANTIATE_TEST_SUITE_P(Tasks, EveryTask, ::testing::ValuesIn(task_ids()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace krl::testing
