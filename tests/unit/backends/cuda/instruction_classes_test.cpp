// Kinds of instructions, in PTX by hand and in any bytes. compilers_test.cpp has PTX of compilers.
#include "plugins/backends/cuda/instruction_classes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "plugins/backends/cuda/ptx_reader.hpp"

namespace krl {
namespace {

using ::testing::ElementsAre;

constexpr std::string_view kPtx = R"(
//
.version 9.0
.target sm_90
.address_size 64
.global .align 4 .b8 table[8] = {1, 0, 0, 0, 2, 0, 0, 0};
.extern .func (.param .b32 result) vprintf(.param .b64 a) ;
.func  (.param .b32 result) helper(
	.param .b32 x
)
{
	.reg .b32 	%r<4>;
	.loc	1 7 3, function_name $L__info_string0, inlined_at 1 9 3
	shfl.sync.bfly.b32 %r2|%p1, %r1, 16, 31, -1;
	call.uni helper, (%r1);
	ret;
}
.visible .entry first(
	.param .u64 p
)
.maxntid 256, 1, 1
{
	.reg .pred 	%p<2>;
	mov.u32 	%r1, %tid.x;  // shfl.sync; vote.sync;
	@%p1 bra 	$L__BB0_2;
$L__BB0_1:
	.loc 1 3 4
	ld.global.nc.v4.f32 	{%f1, %f2, %f3, %f4}, [%rd1];
	/* bar.sync 0; */ ld.shared::cta.v2.f32 {%f1, %f2}, [%rd2];
	@!%p1 st.v2.f32 [%rd1], {%f1, %f2};
	{ // callseq 0, 0
	.param .b32 param0;
	call.uni (result), helper, (param0);
	}
$L__BB0_2: { bar.warp.sync -1; barrier.sync 0; bar.red.popc.u32 %r1, 0, %p1; }
	ret;
}
.entry second() { shfl.sync.up.b32 %r2, %r1, 1, 0, -1; ret; }
)";

TEST(PtxReader, FindsFunctionsAndTheirInstructions) {
  const auto functions = read_ptx(kPtx);
  ASSERT_EQ(functions.size(), 3u);
  EXPECT_EQ(functions[0].name, "helper");
  EXPECT_FALSE(functions[0].entry);
  EXPECT_THAT(functions[0].opcodes, ElementsAre("shfl.sync.bfly.b32", "call.uni", "ret"));
  EXPECT_EQ(functions[1].name, "first");
  EXPECT_TRUE(functions[1].entry);
  EXPECT_THAT(
      functions[1].opcodes,
      ElementsAre("mov.u32", "bra", "ld.global.nc.v4.f32", "ld.shared::cta.v2.f32", "st.v2.f32",
                  "call.uni", "bar.warp.sync", "barrier.sync", "bar.red.popc.u32", "ret"));
  EXPECT_THAT(functions[1].called, ElementsAre("helper"));
  EXPECT_EQ(functions[2].name, "second");
}

TEST(InstructionClasses, CountsWhatTheLaunchedKernelsReach) {
  const InstructionCounts first = count_instructions(kPtx, {"first"});
  EXPECT_EQ(first.shuffles, 1) << "of the function that it calls";
  EXPECT_EQ(first.votes, 0) << "a comment";
  EXPECT_EQ(first.barriers, 2);
  EXPECT_EQ(first.vector_accesses, 2) << "not the one of shared memory";
  EXPECT_EQ(count_instructions(kPtx, {"first", "second"}).shuffles, 2);
  EXPECT_EQ(count_instructions(kPtx, {"nothing", ""}).shuffles, 0);
}

TEST(InstructionClasses, KnowsEachKind) {
  const auto counts = [](const std::string& instruction) {
    return count_instructions(".entry k() { " + instruction + "; }", {"k"});
  };
  for (const char* vote : {"vote.sync.ballot.b32 %r1, %p1, -1", "match.any.sync.b32 %r1, %r2, -1",
                           "redux.sync.add.s32 %r1, %r2, -1", "activemask.b32 %r1"}) {
    EXPECT_EQ(counts(vote).votes, 1) << vote;
  }
  for (const char* product :
       {"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1}, {%r1}, {%r2}, {%f1}",
        "wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32 {%f1}, {%r1}, {%r2}, {%f1}",
        "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1}, %rd1, %rd2, 1, 1, 1",
        "tcgen05.mma.cta_group::1.kind::f16 [%r1], %rd1, %rd2, %r2, %p1"}) {
    EXPECT_EQ(counts(product).tensor_instructions, 1) << product;
  }
  for (const char* other : {"wmma.load.a.sync.aligned.row.m16n16k16.f16 {%r1}, [%rd1], %r2",
                            "wgmma.commit_group.sync.aligned", "tcgen05.alloc.b32 [%r1], 32"}) {
    EXPECT_EQ(counts(other).tensor_instructions, 0) << other;
  }
  EXPECT_EQ(counts("atom.global.add.f32 %f1, [%rd1], %f2").atomics, 1);
  EXPECT_EQ(counts("red.shared.add.u32 [%r1], 1").atomics, 1);
  EXPECT_EQ(counts("st.local.v4.f32 [%r1], {%f1, %f2, %f3, %f4}").local_accesses, 1);
  EXPECT_EQ(counts("st.local.v4.f32 [%r1], {%f1, %f2, %f3, %f4}").vector_accesses, 0);
  EXPECT_EQ(counts("cp.async.cg.shared.global [%r1], [%rd1], 16").asynchronous_copies, 1);
  EXPECT_EQ(counts("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes "
                   "[%r1], [%rd1, {%r2, %r3}], [%r4]")
                .asynchronous_copies,
            1);
  EXPECT_EQ(counts("cp.async.wait_group 0").asynchronous_copies, 0);
}

TEST(InstructionClasses, AnyTextEnds) {
  std::mt19937 random(7);
  for (int i = 0; i < 2000; ++i) {
    std::string text(kPtx);
    for (int k = 0; k < 8; ++k) {
      const std::size_t at = random() % text.size();
      if (random() % 2 == 0) {
        text[at] = "{}();:.\"/*@\n\x01\xff"[random() % 14];
      } else {
        text.erase(at, random() % 40);
      }
    }
    const InstructionCounts counts = count_instructions(text, {"first", "second"});
    EXPECT_LE(counts.shuffles, 3);
  }
  for (const char* text : {"", "{", "}}}}", "/*", "\"", ".entry", ".entry (", "::", ".func ( {",
                           ".entry k() { call", ".entry k() { call (; }", ".entry k() { ; @; }"}) {
    EXPECT_EQ(count_instructions(text, {"k"}).shuffles, 0) << text;
  }
}

}  // namespace
}  // namespace krl
