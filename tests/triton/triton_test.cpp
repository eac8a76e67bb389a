// Kernels in Triton against the real `cpu` plugin.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/triton/triton_kernels.hpp"
#include "tests/unit/backends/evaluator/cpu_fixture.hpp"
#include "tests/until_available.hpp"

namespace krl::testing {
namespace {

class Triton : public ::testing::TestWithParam<std::string> {};

TEST_P(Triton, GetsItsVerdict) {
  const HostileKernel kernel = triton_kernel(GetParam());
  ASSERT_NE(kernel.task, "") << "its first line";
  const Outcome outcome = test::until_available(
      [&] { return uncached_backend().evaluate(all_tasks().at(kernel.task), kernel.source); });
  EXPECT_TRUE(kernel.expects(outcome.verdict))
      << "expected " << kernel.expected << ", got " << name_of(outcome.verdict) << ": "
      << outcome.why << "\n"
      << outcome.log;
  for (const char* secret : {KERNELRL_SOURCE_DIR, "Traceback", "libtriton", "site-packages"})
    EXPECT_EQ((outcome.why + outcome.log).find(secret), std::string::npos) << outcome.log;
}

INSTANTIATE_TEST_SUITE_P(Kernels, Triton, ::testing::ValuesIn(triton_kernel_names()),
                         [](const auto& info) {
                           std::string name = info.param;
                           std::replace(name.begin(), name.end(), '/', '_');
                           return name;
                         });

}  // namespace
}  // namespace krl::testing
