// Every kernel of hostile_kernels.hpp against the real `cpu` plugin.
#include <gtest/gtest.h>

#include "tests/hostile/hostile_kernels.hpp"
#include "tests/unit/backends/evaluator/cpu_fixture.hpp"

namespace krl::testing {
namespace {

class Hostile : public ::testing::TestWithParam<std::string> {};

TEST_P(Hostile, GetsItsVerdict) {
  static const CpuInstance backend(Table{{"cache", "off"}, {"compile_timeout", 3.0}});
  const HostileKernel kernel = hostile_kernel(GetParam());
  ASSERT_NE(kernel.task, "") << "its first line";
  const Outcome outcome = backend.evaluate(all_tasks().at(kernel.task), kernel.source);
  EXPECT_TRUE(kernel.expects(outcome.verdict))
      << verdict_name(outcome.verdict) << ": " << outcome.why << "\n"
      << outcome.log;
  EXPECT_EQ(outcome.verdicts, 1);
  EXPECT_EQ(outcome.why.empty(), outcome.verdict == KRL_VERDICT_OK);
  for (const char* secret : {KERNELRL_SOURCE_DIR, "/proc", "root:"}) {
    EXPECT_EQ(outcome.log.find(secret), std::string::npos) << outcome.log;
  }
}

INSTANTIATE_TEST_SUITE_P(Kernels, Hostile, ::testing::ValuesIn(hostile_kernel_names()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace krl::testing
