// Tests that need the real nvcc, and say so where there is none.
#pragma once

#include <gtest/gtest.h>

#include <kernelrl/values.hpp>

#include "plugins/backends/nvcc/nvcc_toolkit.hpp"

namespace krl::testing {
using namespace nvcc;

class NeedsNvcc : public ::testing::Test {
 protected:
  void SetUp() override {
    try {
      find_nvcc({}, KERNELRL_PYTHON_DEPS);
    } catch (const Failure&) {
      GTEST_SKIP() << "skipped: no nvcc";
    }
  }
};

}  // namespace krl::testing
