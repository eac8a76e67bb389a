// Skips all tests of the executable on processors without AVX-512.
#include <gtest/gtest.h>

namespace {

class NeedsV4 : public ::testing::Environment {
 public:
  void SetUp() override {
    if (!__builtin_cpu_supports("x86-64-v4")) GTEST_SKIP() << "no AVX-512 here";
  }
};

const ::testing::Environment* const needs_v4 = ::testing::AddGlobalTestEnvironment(new NeedsV4);

}  // namespace
