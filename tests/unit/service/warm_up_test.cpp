#include "service/plans/warm_up.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace krl::service {
namespace {

TEST(KernelSignature, IsThatOfAnyNamesCommentsAndBraces) {
  const std::string one = kernel_signature(
      "// @launch k<<<1, 128>>>(x)\n"
      "__global__ void k(float* x) { if (threadIdx.x < 8) { x[0] = 1; } }  // one\n",
      true);
  EXPECT_EQ(one, kernel_signature("// @launch mine<<<1, 128>>>(out)\n"
                                  "__global__ void mine(float* out) {\n"
                                  "  if (threadIdx.x < 8) out[0] = 1;\n}\n",
                                  true));
  const char* larger =
      "// @launch k<<<1, 256>>>(x)\n"
      "__global__ void k(float* x) { if (threadIdx.x < 8) { x[0] = 1; } }\n";
  EXPECT_NE(one, kernel_signature(larger, true)) << "another block";
  EXPECT_EQ(kernel_signature(one, false), kernel_signature(one, false));
  EXPECT_NE(kernel_signature(larger, false),
            kernel_signature("__global__ void k(float* x) { x[threadIdx.y] = 1; }", false));
}

core::Pair pair(const std::string& task, const std::string& kernel) {
  core::Pair pair;
  pair.task.id = task;
  pair.answer = "<KERNEL>\n```cuda\n" + kernel + "\n```\n</KERNEL>";
  return pair;
}

TEST(WarmUp, CountsDifferentKernelsAndStructures) {
  core::StageData data;
  data.pairs = {pair("t", "__global__ void k(float* x) { x[0] = 1; }"),
                pair("t", "__global__ void f(float* y) { y[0] = 1; }"),
                pair("t", "__global__ void k(float* x) { x[0] = 2; }"),
                pair("t", "__global__ void k(float* x) { x[threadIdx.x] = 2; }"),
                pair("u", "__global__ void k(float* x) { x[0] = 1; }")};
  data.pairs[0].shows = {"stages", "vector4"};
  data.pairs[1].shows = {"stages"};
  const std::vector<WarmUpTask> tasks = warm_up_tasks(data);
  ASSERT_EQ(tasks.size(), 2U);
  EXPECT_EQ(tasks[0].id, "t");
  EXPECT_EQ(tasks[0].pairs, 4U);
  EXPECT_EQ(tasks[0].kernels, 3U);
  EXPECT_EQ(tasks[0].structures, 2U);
  EXPECT_DOUBLE_EQ(tasks[0].commonest, 0.75);
  EXPECT_DOUBLE_EQ(tasks[0].entropy, 0.5 * std::log(2.0) + 0.5 * std::log(4.0));
  EXPECT_EQ(tasks[1].entropy, 0);
  EXPECT_EQ(tasks[0].shown, (std::map<std::string, std::size_t>{{"stages", 2}, {"vector4", 1}}));
  EXPECT_FALSE(tasks[0].excludes_naive()) << "nothing is known of its launches";
}

}  // namespace
}  // namespace krl::service
