#include "core/learn/tuner.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace krl::test::tuner {
using namespace core;
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

const Task kTask{"t", "", "", 0, ""};

// A kernel with a block of `block` threads that also occurs in its code, and a grid of 64.
std::string source(const std::string& name, const std::string& block = "128") {
  return "// @launch " + name + "<<<64, " + block + ">>>(x, n1_128)\n#define BLOCK " + block +
         "\n__global__ void " + name + "(float* x, int n1_128) {\n  __shared__ float s[" + block +
         " / 32];\n  x[0] = 128.0f + 1 + 0;\n}\n";
}

ArchivedKernel kernel(const std::string& name, double speedup, const std::string& structure) {
  ArchivedKernel kernel;
  kernel.source = source(name);
  kernel.id = identity_of(kernel.source);
  kernel.answer = "Here:\n" + kernel.source + "done";
  kernel.structure = structure;
  Case c;
  c.speedup = c.speedup_low = c.speedup_high = speedup;
  kernel.evaluation.verdict = Verdict::kOk;
  kernel.evaluation.cases = {c};
  return kernel;
}

TEST(Tuner, ReplacesABlockWhereverItIsANumberOfItsOwn) {
  const auto variants = retuned(source("k"));
  EXPECT_EQ(variants.front(), source("k", "256")) << "the block first, by the smallest factor";
  EXPECT_THAT(variants, Each(HasSubstr("n1_128) {")));
  EXPECT_THAT(variants, Each(HasSubstr("128.0f + 1 + 0")));
  EXPECT_THAT(variants, Contains(source("k", "64")));
}

TEST(Tuner, ChangesWhatALaunchOfTritonGivesByName) {
  const std::string kernel =
      "import triton\n# @launch k[(64,)](x, n, BLOCK=128, num_warps=4)\n@triton.jit\ndef k(x, n, BLOCK): x + 16\n";
  const auto variants = retuned(kernel);
  EXPECT_THAT(variants, Contains(HasSubstr("BLOCK=256, num_warps=4")));
  EXPECT_THAT(variants, Contains(HasSubstr("BLOCK=128, num_warps=8")));
  EXPECT_THAT(variants, Each(AllOf(HasSubstr("k[(64,)]"), HasSubstr("x + 16"))));
}

TEST(Tuner, ChangesFixedGridsAndConstantsToo) {
  const auto variants = retuned(source("k"));
  EXPECT_THAT(variants, Contains(AllOf(HasSubstr("<<<128, 128>>>"), HasSubstr("[128 / 32]"))));
  EXPECT_THAT(variants, Contains(AllOf(HasSubstr("<<<64, 128>>>"), HasSubstr("[128 / 16]"))));
}

TEST(Tuner, KeepsToTheLimitsOfABlockAndLeavesExpressionsAlone) {
  const std::string largest =
      "// @launch k<<<ceil_div(n, 1024), 1024>>>(x)\n__global__ void k() {}\n";
  for (const std::string& variant : retuned(largest)) EXPECT_THAT(variant, Not(HasSubstr("2048")));
  EXPECT_THAT(retuned(largest), Contains(HasSubstr("<<<ceil_div(n, 512), 512>>>")));
  EXPECT_THAT(retuned("// @launch k<<<n, next_pow2(n)>>>(x)\n__global__ void k() {}\n"), IsEmpty());
  EXPECT_THAT(retuned("no kernel at all <<<"), IsEmpty());
}

TEST(Tuner, LeavesExponentsAlone) {
  for (const std::string& variant :
       retuned("__global__ void k(float* x) { x[0] = 1e-5 + x[5]; }\n"))
    EXPECT_THAT(variant, HasSubstr("1e-5 ")) << variant;
}

TEST(Tuner, TakesTheFastestOfEachStructureInTurnAndNothingThatWasJudged) {
  const std::vector<ArchivedKernel> kernels = {kernel("a", 4, "one"), kernel("b", 3, "one"),
                                               kernel("c", 2, "two")};
  const KernelIds judged = {identity_of(source("a", "256"))};
  const auto chosen = choose_tuned(kernels, judged, 4);
  ASSERT_THAT(chosen, SizeIs(4));
  EXPECT_EQ(chosen[0].parent, &kernels[0]);
  EXPECT_NE(chosen[0].source, source("a", "256"));
  EXPECT_EQ(chosen[1].parent, &kernels[2]);
  EXPECT_EQ(chosen[1].source, source("c", "256"));
  EXPECT_EQ(chosen[2].parent, &kernels[0]);
  EXPECT_EQ(chosen[3].parent, &kernels[2]);
  EXPECT_THAT(choose_tuned(kernels, {}, 0), IsEmpty());
}

TEST(Tuner, OffersEachKernelOnceHoweverManyAreAskedFor) {
  const std::vector<ArchivedKernel> kernels = {kernel("a", 4, "one")};
  std::set<std::string> ids;
  const auto chosen = choose_tuned(kernels, {}, 1000);
  for (const TunedKernel& tuned : chosen) ids.insert(identity_of(tuned.source));
  EXPECT_EQ(ids.size(), chosen.size());
  EXPECT_FALSE(ids.contains(kernels[0].id) && chosen.size() == 1);
}

TEST(Tuner, MakesAnEpisodeThatNamesTheParent) {
  const ArchivedKernel parent = kernel("a", 4, "one");
  const Episode episode = episode_of({&parent, source("a", "256")}, kTask, {3, 7});
  EXPECT_TRUE(episode.tuned);
  ASSERT_THAT(episode.given, SizeIs(1));
  EXPECT_EQ(episode.given[0].candidate.source, parent.source);
  ASSERT_THAT(episode.turns, SizeIs(1));
  EXPECT_EQ(episode.turns[0].candidate.source, source("a", "256"));
  EXPECT_EQ(episode.turns[0].answer.text, "Here:\n" + source("a", "256") + "done");
  EXPECT_THAT(episode.turns[0].answer.tokens, IsEmpty());
}

}  // namespace
}  // namespace krl::test::tuner
