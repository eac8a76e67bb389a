// Kinds of instructions, in PTX by hand. compilers_test.cpp has PTX of compilers.
#include "plugins/backends/compiled/instruction_classes.hpp"

#include <gtest/gtest.h>

#include "plugins/backends/ptx/reader.hpp"

namespace krl::compiled {
namespace {

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
	.reg .pred 	%p<2>;
	.loc	1 7 3, function_name $L__info_string0, inlined_at 1 9 3
	shfl.sync.bfly.b32 %r2|%p1, %r1, 16, 31, -1;
	{
	.param .b32 y, z;
	call.uni (z), helper, (y);
	}
	ret;
}
.visible .entry first(
	.param .u64 p
)
.maxntid 256, 1, 1
{
	.reg .pred 	%p<2>;
	.reg .b32 	%r<3>;
	.reg .b64 	%rd<3>;
	.reg .f32 	%f<5>;
	mov.u32 	%r1, %tid.x;  // shfl.sync; vote.sync;
	@%p1 bra 	$L__BB0_2;
$L__BB0_1:
	.loc 1 3 4
	ld.global.nc.v4.f32 	{%f1, %f2, %f3, %f4}, [%rd1];
	/* bar.sync 0; */ ld.shared::cta.v2.f32 {%f1, %f2}, [%rd2];
	@!%p1 st.v2.f32 [%rd1], {%f1, %f2};
	{ // callseq 0, 0
	.param .b32 param0, result0;
	call.uni (result0), helper, (param0);
	}
$L__BB0_2: { bar.warp.sync -1; barrier.sync 0; bar.red.popc.u32 %r1, 0, %p1; }
	ret;
}
.entry second() { .reg .b32 %r<3>; shfl.sync.up.b32 %r2, %r1, 1, 0, -1; ret; }
)";

InstructionCounts counted(std::string_view text, const std::vector<std::string>& names) {
  const ptx::ReadResult code = ptx::read_module(text, "");
  EXPECT_FALSE(code.problem) << code.problem->text();
  return count_instructions(code.module, names);
}

TEST(InstructionClasses, CountsWhatTheLaunchedKernelsReach) {
  const InstructionCounts first = counted(kPtx, {"first"});
  EXPECT_EQ(first.shuffles, 1) << "of the function that it calls";
  EXPECT_EQ(first.votes, 0) << "a comment";
  EXPECT_EQ(first.barriers, 2);
  EXPECT_EQ(first.vector_accesses, 2) << "not the one of shared memory";
  EXPECT_EQ(counted(kPtx, {"first", "second"}).shuffles, 2);
  EXPECT_EQ(counted(kPtx, {"nothing", ""}).shuffles, 0);
}

TEST(InstructionClasses, KnowsEachKind) {
  const auto counts = [](const std::string& instruction) {
    return counted(
        ".version 9.0 .target sm_90a .entry k() { .reg .pred %p<2>; .reg .b32 %r<4>;"
        ".reg .b64 %rd<3>; .reg .f32 %f<5>; " +
            instruction + "; }",
        {"k"});
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
  EXPECT_EQ(counts("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
                   "[%r1], [%rd1], 16, [%r3]")
                .asynchronous_copies,
            1);
  EXPECT_EQ(counts("cp.async.wait_group 0").asynchronous_copies, 0);
}

}  // namespace
}  // namespace krl::compiled
