// What a candidate may contain: every refusal with its words and line, and what is allowed.
#include "plugins/backends/ptx/contents.hpp"

#include <gmock/gmock.h>

#include "tests/unit/backends/ptx/ptx_texts.hpp"

namespace krl::ptx {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

std::vector<std::string> problems(const std::string& text,
                                  const std::vector<std::string>& kernels = {"k"}) {
  std::vector<std::string> texts;
  for (const auto& problem : check_contents(module_of(text), kernels)) {
    texts.push_back(problem.text());
  }
  return texts;
}

// Of the kernel `k`, all of it in line 5 of the candidate.
std::vector<std::string> body_problems(const std::string& body, const std::string& before = {}) {
  std::string text = kernel(".loc 1 5 3\n" + body) + ".file 1 \"kernel.cu\"\n";
  text.insert(kHead.size(), before);
  return problems(text);
}

TEST(CandidateContents, WhatKernelsAreMadeOf) {
  EXPECT_THAT(
      body_problems(
          "ld.global.nc.L1::evict_last.f32 %f1, [%rd1]; atom.global.add.f32 %f1, [%rd1], %f2;\n"
          "mov.u32 %r1, %laneid; mov.u32 %r2, %lanemask_lt; mov.u32 %r3, %dynamic_smem_size;\n"
          "cp.async.cg.shared.global [%r1], [%rd1], 16; cp.async.wait_group 0; trap;\n"
          "wgmma.fence.sync.aligned; mbarrier.init.shared.b64 [%r5], %r6; nanosleep.u32 %r1;\n"
          "prefetch.global.L2 [%rd1]; st.shared.u32 [dynamic], %r1; call f; st.global.u32 [own], "
          "1;",
          ".extern .shared .align 16 .b8 dynamic[]; .func f() { ret; } .global .u32 own;"
          ".global .u64 pointer = generic(own);\n"),
      IsEmpty());
}

TEST(CandidateContents, CallsOfTheDeviceRuntime) {
  const auto calling = [](const std::string& name) {
    return body_problems("call.uni " + name + ", ();", ".extern .func " + name + "();\n");
  };
  EXPECT_THAT(calling("vprintf"),
              ElementsAre("line 5: printf is not allowed: a kernel only writes its outputs"));
  EXPECT_THAT(calling("__assertfail"),
              ElementsAre("line 5: assert is not allowed: a kernel only writes its outputs"));
  EXPECT_THAT(calling("malloc"),
              ElementsAre("line 5: malloc and new are not allowed: memory comes from @scratch"));
  EXPECT_THAT(calling("free"),
              ElementsAre("line 5: free and delete are not allowed: memory comes from @scratch"));
  EXPECT_THAT(body_problems("call.uni vprintf, ();", ".func vprintf() { ret; }\n"),
              ElementsAre("a function called vprintf: the name is the device runtime's"));
  EXPECT_THAT(
      calling("cudaLaunchDeviceV2"),
      ElementsAre("line 5: cudaLaunchDeviceV2: belongs to the host: the harness owns memory "
                  "and launches"));
  EXPECT_THAT(calling("leave"),
              ElementsAre("line 5: leave: is declared, but not defined in the source"));
}

TEST(CandidateContents, PointersToFunctions) {
  const std::string function = ".func f() { ret; }\n";
  const std::string pointer =
      "line 5: a call through a pointer: call functions by name, without virtual";
  EXPECT_THAT(body_problems("P: .callprototype _ (); call %rd1, (), P;", function),
              ElementsAre(pointer));
  EXPECT_THAT(body_problems("T: .calltargets f; call %rd1, (), T;", function),
              ElementsAre(pointer));
  EXPECT_THAT(body_problems("mov.u64 %rd1, f;", function),
              ElementsAre("line 5: the address of a function: call functions by name"));
  EXPECT_THAT(body_problems("", function + ".global .u64 table[2] = {0, f};\n"),
              ElementsAre("table holds the address of a function: call functions by name"));
}

TEST(CandidateContents, VariablesOfOthers) {
  EXPECT_THAT(body_problems("st.global.u32 [other], 1;", ".extern .global .u32 other;\n"),
              ElementsAre("line 5: other: is declared, but not defined in the source"));
}

TEST(CandidateContents, InstructionsThatReachFurther) {
  const std::string stores =
      ": asynchronous stores are not supported: store, and arrive at a barrier";
  const std::vector<std::pair<std::string, std::string>> rows = {
      {"clusterlaunchcontrol.try_cancel.async.b128 [%r1], [%r2]",
       "clusterlaunchcontrol.try_cancel.async.b128: a block may not take over another's work"},
      {"st.async.b32 [%r1], %r2, [%r3]", "st.async.b32" + stores},
      {"red.async.add.u32 [%r1], %r2, [%r3]", "red.async.add.u32" + stores},
      {"cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
       "[%r1], [%rd1], 16, [%r3], %r4",
       "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster: "
       "copies to several blocks at once are not supported"},
      {"st.bulk.weak.shared::cta [%r1], 64, 0",
       "st.bulk.weak.shared::cta: bulk stores are not supported"},
      {"cp.async.bulk.prefetch.L2.global [%rd1], 64",
       "cp.async.bulk.prefetch.L2.global: bulk prefetches are not allowed: they may reach what the "
       "kernel does not read"},
      {"fence.proxy.tensormap::generic.release.gpu",
       "fence.proxy.tensormap::generic.release.gpu: tensor maps are made by @tensor_map alone"},
      {"multimem.red.global.add.f32 [%rd1], %f1",
       "multimem.red.global.add.f32: reaches other GPUs"},
      {"griddepcontrol.wait", "griddepcontrol.wait: a launch depends on no other"},
      {"ld.mmio.relaxed.sys.global.u32 %r1, [%rd1]",
       "ld.mmio.relaxed.sys.global.u32: reaches devices"},
      {"ld.global.L2::evict_last.f32 %f1, [%rd1]",
       "ld.global.L2::evict_last.f32: asks the L2 cache to keep lines beyond the launch"},
      {"createpolicy.fractional.L2::evict_last.b64 %rd1, 1.0",
       "createpolicy.fractional.L2::evict_last.b64: asks the L2 cache to keep lines beyond the "
       "launch"},
      {"discard.global.L2 [%rd1], 128",
       "discard.global.L2: may not discard the contents of memory"},
      {"txq.width.b32 %r1, [%rd1]",
       "txq.width.b32: textures and surfaces are not supported: load from buffers"},
      {"brkpt", "brkpt: is for debuggers"},
      {"pmevent 3", "pmevent: is for profilers"},
  };
  for (const auto& [instruction, problem] : rows) {
    EXPECT_THAT(body_problems(instruction + ";"), ElementsAre("line 5: " + problem));
  }
}

TEST(CandidateContents, ClustersWhoseSizeTheKernelGives) {
  const auto with = [](const std::string& directives) {
    return problems(std::string(kHead) + ".entry k() " + directives + " { ret; }");
  };
  EXPECT_THAT(with(".explicitcluster .reqnctapercluster 2, 1, 1"), ElementsAre());
  EXPECT_THAT(with(".reqnctapercluster 2, 1, 1"), ElementsAre());
  EXPECT_THAT(with(".explicitcluster"),
              ElementsAre("line 4: launches give no size of clusters: a kernel has one by "
                          "__cluster_dims__"));
  for (const char* instruction : {"mapa.shared::cluster.u32 %r1, %r2, 1;",
                                  "ld.shared::cluster.u32 %r1, [%r2];", "barrier.cluster.arrive;"})
    EXPECT_THAT(body_problems(instruction), ElementsAre());
}

TEST(CandidateContents, WhereAKernelRuns) {
  const auto reading = [](const std::string& name) {
    return body_problems("mov.u32 %r1, " + name + ";");
  };
  EXPECT_THAT(reading("%smid"),
              ElementsAre("line 5: %smid: results may not depend on where a kernel runs"));
  EXPECT_THAT(reading("%nsmid"),
              ElementsAre("line 5: %nsmid: results may not depend on where a kernel runs"));
  EXPECT_THAT(reading("%warpid"),
              ElementsAre("line 5: %warpid: warps have no fixed number; compute "
                          "it from threadIdx"));
  EXPECT_THAT(reading("%gridid"),
              ElementsAre("line 5: %gridid: results may not depend on which launch it is"));
  EXPECT_THAT(reading("%envreg2"), ElementsAre("line 5: %envreg2: needs a cooperative launch, and "
                                               "@launch makes none"));
  EXPECT_THAT(reading("%pm0"), ElementsAre("line 5: %pm0: is for profilers"));
}

TEST(CandidateContents, ClocksDecideForHowLongAThreadWaits) {
  const std::string start = "mov.u64 %rd1, %globaltimer;\n";
  EXPECT_THAT(body_problems(start + "again: mov.u64 %rd2, %globaltimer; sub.s64 %rd3, %rd2, %rd1;\n"
                                    "setp.lt.s64 %p1, %rd3, 4000; @%p1 bra again;\n"
                                    "shr.u64 %rd4, %rd3, 2; cvt.u32.u64 %r1, %rd4;\n"
                                    "nanosleep.u32 %r1; st.global.u32 [%rd5], %r2;"),
              IsEmpty());
  const auto stored = [](const std::string& name) {
    return ElementsAre("line 5: a clock's value in " + name +
                       ": clocks may only decide for how long a thread waits");
  };
  EXPECT_THAT(body_problems(start + "st.global.u64 [%rd2], %rd1;"), stored("st.global.u64"));
  EXPECT_THAT(body_problems("mov.u32 %r1, %clock; and.b32 %r2, %r1, 7; cvt.u64.u32 %rd2, %r2;\n"
                            "ld.global.u32 %r3, [%rd2];"),
              stored("ld.global.u32"))
      << "in an address";
  EXPECT_THAT(body_problems("bra test; use: st.local.u32 [%r5], %r4; ret;\n"
                            "test: mov.b64 {%r1, %r2}, %rd1; add.u32 %r4, %r1, 0;\n"
                            "mov.u64 %rd1, %clock64; bra test; bra use;"),
              stored("st.local.u32"))
      << "whatever the order of the text";
  EXPECT_THAT(body_problems(start + "setp.lt.s64 %p1, %rd1, 9; @%p1 st.global.u32 [%rd2], 1;"),
              stored("st.global.u32"))
      << "in a guard";
  EXPECT_THAT(body_problems(start + "setp.lt.s64 %p1, %rd1, 9; @%p1 mov.u32 %r1, 0;\n"
                                    "red.global.add.u32 [%rd2], %r1;"),
              stored("red.global.add.u32"));
}

TEST(CandidateContents, ClocksDecideNothingElse) {
  const std::string start =
      "mov.u64 %rd1, %clock64; and.b64 %rd2, %rd1, 8; setp.eq.s64 %p1, %rd2, 0;\n";
  const auto decided = [](const std::string& name) {
    return ElementsAre("line 5: a clock's value in " + name +
                       ": clocks may only decide for how long a thread waits");
  };
  EXPECT_THAT(body_problems(start + "@%p1 bra past; st.global.u32 [%rd5], 1; past: ret;"),
              decided("st.global.u32"));
  EXPECT_THAT(body_problems(start + "@%p1 ret; bar.sync 0;"), decided("bar.sync"));
  EXPECT_THAT(body_problems(start + "mov.u32 %r1, 0; @%p1 bra past; or.b32 %r1, %r1, 4;\n"
                                    "past: st.global.u32 [%rd5], %r1;"),
              decided("st.global.u32"))
      << "a value of one side";
  EXPECT_THAT(body_problems(start + "@%p1 bra past; ld.global.u32 %r1, [%rd5];\n"
                                    "past: st.global.u32 [%rd6], %r1;"),
              decided("st.global.u32"));
  EXPECT_THAT(
      body_problems(start + "add.s64 %rd4, %rd1, 99; mov.u32 %r1, 0; again: add.u32 %r1, %r1, 1;\n"
                            "mov.u64 %rd3, %clock64; setp.lt.u64 %p2, %rd3, %rd4;\n"
                            "@%p2 bra again; st.global.u32 [%rd5], %r1;"),
      decided("st.global.u32"))
      << "a count of rounds";
  EXPECT_THAT(body_problems(start + "@%p1 bra past; trap; past: st.global.u32 [%rd5], 1;"),
              IsEmpty())
      << "an alarm";
  EXPECT_THAT(
      body_problems(start + "@%p1 bra past; nanosleep.u32 9; past: st.global.u32 [%rd5], 1;"),
      IsEmpty());
}

TEST(CandidateContents, ALaterReadingOfAClockIsNotLess) {
  const auto guarded_by = [](const std::string& comparison) {
    return body_problems(
        "mov.u64 %rd1, %clock64; mov.u64 %rd3, %globaltimer; mov.u64 %rd2, %clock64;\n" +
        comparison + " @%p1 bra past; st.global.u32 [%rd5], 1; past: ret;");
  };
  EXPECT_THAT(guarded_by("setp.ge.s64 %p1, %rd2, %rd1;"), IsEmpty());
  EXPECT_THAT(
      guarded_by("setp.ge.u64 %p2, %rd2, %rd1; setp.ne.s64 %p3, %rd3, 0; or.pred %p1, %p2, %p3;"),
      IsEmpty());
  for (const char* open : {"setp.gt.s64 %p1, %rd2, %rd1;", "setp.ge.s64 %p1, %rd1, %rd2;",
                           "setp.ge.s64 %p1, %rd2, %rd3;",
                           "setp.ge.s64 %p2, %rd2, %rd1; not.pred %p0, %p2; "
                           "setp.ne.s64 %p3, %rd3, 0; and.pred %p1, %p2, %p3;"}) {
    EXPECT_THAT(guarded_by(open), SizeIs(1)) << open;
  }
}

TEST(CandidateContents, PoliciesOfTheCacheAreWhatCreatepolicyGave) {
  const std::string load = "ld.global.L2::cache_hint.f32 %f1, [%rd1], %rd2;";
  const std::string create = "createpolicy.fractional.L2::evict_first.b64 %rd3, 1.0;\n";
  EXPECT_THAT(body_problems(create + "mov.b64 %rd2, %rd3;" + load), IsEmpty());
  EXPECT_THAT(
      body_problems("createpolicy.fractional.L2::evict_first.b64 %rd2, 1.0;\n"
                    "createpolicy.range.global.L2::evict_unchanged.b64 %rd4, [%rd1], 64, 128;\n" +
                    create + "again: selp.b64 %rd2, %rd3, %rd4, %p1;" + load + "bra again;"),
      IsEmpty());
  const auto unknown = ElementsAre(
      "line 5: ld.global.L2::cache_hint.f32: its cache policy must come from createpolicy as it is");
  EXPECT_THAT(body_problems(load), unknown) << "never written";
  EXPECT_THAT(body_problems("mov.b64 %rd2, 0x14F0000000000000;" + load), unknown);
  EXPECT_THAT(body_problems(create + "xor.b64 %rd2, %rd3, 0x600000000000000;" + load), unknown);
  EXPECT_THAT(body_problems(create + "mov.b64 {%r1, %r2}, %rd3; mov.b64 %rd2, {%r1, %r2};" + load),
              unknown);
  EXPECT_THAT(body_problems(create + "mov.b64 %rd2, %rd3; @%p1 add.s64 %rd2, %rd2, 1;" + load),
              unknown)
      << "on one of two ways";
  EXPECT_THAT(body_problems("ld.global.v2.u64 {%rd2, %rd3}, [%rd1];" + load), unknown);
  EXPECT_THAT(
      body_problems("createpolicy.cvt.L2.b64 %rd2, %rd3;" + load),
      ElementsAre("line 5: createpolicy.cvt.L2.b64: asks the L2 cache to keep lines beyond the "
                  "launch"));
}

TEST(CandidateContents, OnlyWhatTheKernelsReachCounts) {
  const std::string text = std::string(kHead) +
                           ".extern .func vprintf();\n"
                           ".func deep() { call vprintf; ret; }\n"
                           ".func middle() { call deep; call middle; ret; }\n"
                           ".entry k() { call middle; ret; }\n.entry other() { ret; }";
  EXPECT_THAT(problems(text, {"k"}), SizeIs(1));
  EXPECT_THAT(problems(text, {"other"}), IsEmpty());
  EXPECT_THAT(problems(text, {"nothing", ""}), IsEmpty());
}

TEST(CandidateContents, SaysEachThingOnceALineAndNotTooMuch) {
  EXPECT_THAT(body_problems("mov.u32 %r1, %smid; mov.u32 %r2, %smid;"), SizeIs(1));
  std::string body;
  for (int line = 1; line < 100; ++line) {
    body += ".loc 1 " + std::to_string(line) + " 1\nmov.u32 %r1, %smid;\n";
  }
  EXPECT_THAT(body_problems(body), SizeIs(12));
}

}  // namespace
}  // namespace krl::ptx
