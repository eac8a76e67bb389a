// What is NVRTC's own; what holds for every compiler of CUDA is in ../cuda/compilers_test.cpp.
#include <gtest/gtest.h>

#include <filesystem>

#include "plugins/backends/nvrtc/nvrtc_library.hpp"
#include "tests/unit/backends/evaluator/cpu_fixture.hpp"

namespace krl::testing {
namespace {

// The libraries of PyPI's wheel are in no place where the system would look for them.
TEST(Nvrtc, WorksFromTheWheel) {
  const std::string wheel = KERNELRL_PYTHON_DEPS "/nvidia/cu13";
  if (!std::filesystem::exists(wheel + "/lib/libnvrtc.so.13")) GTEST_SKIP() << "skipped: no wheel";
  const BackendInstance backend(
      "nvrtc", {{"execute", "off"}, {"arch", "sm_90"}, {"cuda", wheel}, {"cache", "off"}});
  const Outcome outcome =
      backend.evaluate(all_tasks().at("vector_add"), naive_of(all_tasks().at("vector_add")));
  EXPECT_EQ(outcome.verdict, KRL_VERDICT_OK) << outcome.why;
  EXPECT_EQ(outcome.toolchain, "NVRTC 13.0");
}

TEST(Nvrtc, SaysWhereItLooked) {
  try {
    find_nvrtc("/no/such/folder", KERNELRL_PYTHON_DEPS);
    FAIL() << "found";
  } catch (const Failure& failure) {
    EXPECT_STREQ(failure.what(),
                 "no NVRTC in /no/such/folder: install the CUDA toolkit, or call scripts/setup.sh "
                 "--cuda, or set 'cuda'");
  }
}

}  // namespace
}  // namespace krl::testing
