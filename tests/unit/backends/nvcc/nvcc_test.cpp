// What is nvcc's own; what holds for every compiler of CUDA is in ../cuda/compilers_test.cpp.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "plugins/backends/nvcc/nvcc_toolkit.hpp"
#include "tests/unit/backends/evaluator/cpu_fixture.hpp"
#include "tests/unit/backends/nvcc/needs_nvcc.hpp"

namespace krl::testing {
namespace {

using ::testing::HasSubstr;

namespace fs = std::filesystem;

TaskBackend backend_with(const std::string& option, const std::string& value) {
  return TaskBackend(
      "nvcc", {{"execute", "off"}, {"arch", "sm_90"}, {"cache", "off"}, {option.c_str(), value}});
}

std::string refusal_of(const std::string& option, const std::string& value) {
  try {
    backend_with(option, value);
  } catch (const Failure& failure) {
    return failure.what();
  }
  return "started";
}

class Nvcc : public NeedsNvcc {};

// The wheels lie together as one toolkit would.
TEST_F(Nvcc, WorksFromTheWheels) {
  const std::string wheels = KERNELRL_PYTHON_DEPS "/nvidia/cu13";
  if (!fs::exists(wheels + "/bin/nvcc")) GTEST_SKIP() << "skipped: no wheels";
  const TaskText& task = all_tasks().at("vector_add");
  const Outcome outcome = backend_with("cuda", wheels).evaluate(task, naive_of(task));
  EXPECT_EQ(outcome.verdict, Verdict::kOk) << outcome.why << outcome.log;
  EXPECT_EQ(outcome.toolchain, "nvcc 13.0");
}

TEST_F(Nvcc, TakesFlagsAndRefusesWrongOnesAtTheStart) {
  const char* source = R"(
__global__ void add(const float* a, const float* b, float* out, int n) {
  if (n > 0) out[0] = SCALE * __expf(a[0]) + b[0];
})";
  const TaskText& task = all_tasks().at("vector_add");
  const Outcome outcome =
      backend_with("flags", "-DSCALE=2.0f --use_fast_math -maxrregcount=16").evaluate(task, source);
  ASSERT_EQ(outcome.verdict, Verdict::kOk) << outcome.why;
  EXPECT_LE(outcome.records.at(0).registers, 16);
  EXPECT_THAT(refusal_of("flags", "--bogus"), HasSubstr("Unknown option '--bogus'"));
  EXPECT_THAT(refusal_of("flags", "-gencode=arch=compute_80,code=sm_80"), HasSubstr("flags"));
}

TEST_F(Nvcc, SourcesSeeTheHostsLibrary) {
  const char* source = R"(
#include <algorithm>
#include <limits>
__global__ void add(const float* a, const float* b, float* out, int n) {
  if (n > 0) out[0] = a[0] + b[0];
})";
  const Outcome outcome = backend_with("flags", "").evaluate(all_tasks().at("vector_add"), source);
  EXPECT_EQ(outcome.verdict, Verdict::kOk) << outcome.why << outcome.log;
}

TEST(NvccToolkit, SaysWhereItLookedAndWhatIsMissing) {
  EXPECT_EQ(
      refusal_of("cuda", "/no/such/folder"),
      "no nvcc in /no/such/folder: call scripts/setup.sh --cuda, or install the CUDA toolkit, "
      "or set 'cuda'");
  EXPECT_THAT(refusal_of("cuda", "/bin/false"), HasSubstr("/false cannot be used: --version"));
}

}  // namespace
}  // namespace krl::testing
