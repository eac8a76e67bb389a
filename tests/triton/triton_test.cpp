// Kernels in Triton against the real `cpu` plugin: right ones in folders `right`, and `wrong` and
// `hostile` ones, whose first lines say what must come of them (../hostile/hostile_kernels.hpp).
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "tests/hostile/hostile_kernels.hpp"
#include "tests/unit/backends/evaluator/cpu_fixture.hpp"
#include "tests/until_available.hpp"

namespace krl::testing {
namespace {

namespace fs = std::filesystem;
const fs::path kKernels = KERNELRL_SOURCE_DIR "/tests/triton/kernels";

// "right/softmax_rows_plain", …
std::vector<std::string> names() {
  std::vector<std::string> names;
  for (const auto& file : fs::recursive_directory_iterator(kKernels)) {
    if (file.path().extension() != ".py") continue;
    const fs::path name = file.path().lexically_relative(kKernels);
    names.push_back((name.parent_path() / name.stem()).string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

class Triton : public ::testing::TestWithParam<std::string> {};

TEST_P(Triton, GetsItsVerdict) {
  const HostileKernel kernel = hostile_kernel_in(kKernels / (GetParam() + ".py"));
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

INSTANTIATE_TEST_SUITE_P(, Triton, ::testing::ValuesIn(names()), [](const auto& info) {
  std::string name = info.param;
  std::replace(name.begin(), name.end(), '/', '_');
  return name;
});

}  // namespace
}  // namespace krl::testing
