#include "plugins/backends/compiled/resource_report.hpp"

#include <gtest/gtest.h>

namespace krl::compiled {
namespace {

// As NVRTC 13.0.88 printed it, for two kernels.
constexpr const char* kReport =
    "ptxas info    : Overriding maximum register limit 256 for '_Z5spillPfi' with  32 of "
    "maxrregcount option\n"
    "ptxas info    : 0 bytes gmem\n"
    "ptxas info    : Compiling entry function '_Z5scaleIfLi256EEvPKT_PS0_fi' for 'sm_90'\n"
    "ptxas info    : Function properties for _Z5scaleIfLi256EEvPKT_PS0_fi\n"
    "ptxas         .     0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
    "ptxas info    : Used 12 registers, used 1 barriers, 1024 bytes smem\n"
    "ptxas info    : Compile time = 3.900 ms\n"
    "ptxas info    : Compiling entry function '_Z5spillPfi' for 'sm_90'\n"
    "ptxas info    : Function properties for _Z5spillPfi\n"
    "ptxas         .     272 bytes stack frame, 8 bytes spill stores, 8 bytes spill loads\n"
    "ptxas info    : Used 32 registers, used 0 barriers, 272 bytes cumulative stack size\n"
    "ptxas info    : Compile time = 59.411 ms\n";

TEST(ResourceReport, GivesTheFiguresOfEveryKernel) {
  const auto kernels = read_resource_report(kReport);
  ASSERT_EQ(kernels.size(), 2u);
  const KernelResources& scale = kernels.at("_Z5scaleIfLi256EEvPKT_PS0_fi");
  EXPECT_EQ(scale.registers, 12);
  EXPECT_EQ(scale.barriers, 1);
  EXPECT_EQ(scale.shared_bytes, 1024);
  EXPECT_EQ(scale.stack_bytes, 0);
  EXPECT_EQ(scale.spill_bytes, 0);
  const KernelResources& spill = kernels.at("_Z5spillPfi");
  EXPECT_EQ(spill.registers, 32);
  EXPECT_EQ(spill.barriers, 0);
  EXPECT_EQ(spill.shared_bytes, 0);
  EXPECT_EQ(spill.stack_bytes, 272);
  EXPECT_EQ(spill.spill_bytes, 8);
}

// nvcc 13.0.88 has no "ptxas" in front of a function's stack.
TEST(ResourceReport, IsTakenOutOfTheLogOfNvccToo) {
  const std::string stack = "    8 bytes stack frame, 4 bytes spill stores, 4 bytes spill loads\n";
  const std::string head = "ptxas info    : Compiling entry function '_Z1kPf' for 'sm_90'\n";
  const SplitLog log =
      split_log("kernel.cu(3): warning #177-D: unused\n    int x;\n" + head + stack);
  EXPECT_EQ(log.report, head + stack);
  EXPECT_EQ(log.messages, "kernel.cu(3): warning #177-D: unused\n    int x;\n");
  EXPECT_EQ(read_resource_report(log.report).at("_Z1kPf").spill_bytes, 4);
}

TEST(ResourceReport, LeavesOutWhatASourcePrintedBeforehand) {
  const std::string forged =
      "ptxas info    : Compiling entry function '_Z5spillPfi' for 'sm_90'\n"
      "ptxas         .     0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
      "ptxas info    : Used 1 registers, 99999 bytes smem\n";
  const KernelResources spill = read_resource_report(forged + kReport).at("_Z5spillPfi");
  EXPECT_EQ(spill.registers, 32);
  EXPECT_EQ(spill.spill_bytes, 8);
  EXPECT_EQ(spill.shared_bytes, 0);
}

TEST(ResourceReport, KnowsNothingFromDamagedLines) {
  EXPECT_TRUE(read_resource_report("").empty());
  EXPECT_TRUE(read_resource_report("ptxas info    : Used 7 registers\n").empty()) << "whose?";
  const auto kernels = read_resource_report(
      "Compiling entry function 'k\nUsed registers\nUsed 99999999999999999999 registers\n bytes "
      "stack frame");
  EXPECT_EQ(kernels.at("k").registers, -1);
  EXPECT_EQ(kernels.at("k").stack_bytes, -1);
}

TEST(ResourceReport, IsSplitFromTheMessages) {
  const SplitLog log = split_log(
      "kernel.cu(1): warning: a\nptxas info    : b\nptxas         .     c\nptxas fatal   : "
      "d\nlast");
  EXPECT_EQ(log.messages, "kernel.cu(1): warning: a\nptxas fatal   : d\nlast\n");
  EXPECT_EQ(log.report, "ptxas info    : b\nptxas         .     c\n");
}

}  // namespace
}  // namespace krl::compiled
