#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "plugins/backends/cpu/emulator/hooks.hpp"
#include "tests/unit/backends/emulator/emulation.hpp"

namespace krl::emulator {
namespace {

TEST(Protocol, JobSurvivesJson) {
  Job job;
  job.kernels = {"a", "b<float, 4>"};
  job.work_limit = 12345;
  job.seed = 0xffffffffffffffffu;
  krl::emulator::Run run;
  run.buffers = {{"x", 256, 1024, 4, false, Role::kInput},
                 {"y", 4096, 64, 8, true, Role::kScratch}};
  run.launches = {{1,
                   {2, 3, 4},
                   {32, 2, 1},
                   128,
                   {BufferArgument{1}, std::int32_t{-5}, std::int64_t{1} << 40,
                    -std::numeric_limits<float>::infinity()}}};
  run.count = true;
  run.order = Order::kShuffled;
  job.runs = {run};
  EXPECT_EQ(nlohmann::json::parse(nlohmann::json(job).dump()).get<Job>(), job);
}

TEST(Protocol, ResultSurvivesJson) {
  Result result;
  result.fault = Fault{FaultKind::kDataRace, "m", 7, 1, 2, "k", {1, 2, 3}, {4, 5, 6}};
  result.launch_error = LaunchError{1, 2, 3, "why"};
  result.kernels = {{"k", 128, 256, 2, {{ParameterKind::kPointer, 8, true, 4}}}};
  LaunchReport report;
  report.counters.global_load_sectors = 99;
  report.counters.critical.barriers = 3;
  result.runs = {{report}};
  result.work = 17;
  EXPECT_EQ(nlohmann::json::parse(nlohmann::json(result).dump()).get<Result>(), result);
}

TEST(Protocol, MissingKeysAndUnknownNamesAreErrors) {
  EXPECT_THROW(nlohmann::json::parse("{}").get<Job>(), nlohmann::json::exception);
  auto json = nlohmann::json(Job{});
  krl::emulator::Run run;
  json["runs"] = nlohmann::json::array({{{"buffers", nlohmann::json::array()},
                                         {"launches", nlohmann::json::array()},
                                         {"count", true},
                                         {"order", "sideways"}}});
  EXPECT_THROW(json.get<Job>(), nlohmann::json::exception);
}

TEST(Protocol, EveryAllowedSymbolHasAnAddressAndNoOther) {
  for (const auto& hook : hooks()) {
    EXPECT_TRUE(allowed_symbol(hook.name)) << hook.name;
    EXPECT_NE(hook.address, nullptr) << hook.name;
  }
  for (const char* name : {"system", "open", "dlopen", "printf", "__libc_start_main", "f", ""}) {
    EXPECT_FALSE(allowed_symbol(name)) << name;
    EXPECT_EQ(hook_address(name), nullptr) << name;
  }
  for (const char* name :
       {"expf", "sincos", "__tsan_read4", "__tls_get_addr", "threadIdx", "krl_atomic"}) {
    EXPECT_TRUE(allowed_symbol(name)) << name;
    EXPECT_NE(hook_address(name), nullptr) << name;
  }
}

TEST(Protocol, ModulesThatCallOutAreRefused) {
  const auto module = compile(
      "extern \"C\" int system(const char*);\n__global__ void k(int* x) { *x = system(\"true\"); }",
      {"k"});
  ASSERT_FALSE(module.elf.empty()) << module.log;
  const auto why = refused_module(module.elf);
  ASSERT_TRUE(why);
  EXPECT_NE(why->find("system"), std::string::npos) << *why;
  EXPECT_TRUE(refused_module("no ELF file"));
  const auto good = compile(
      "extern __shared__ float s[];\n__global__ void k(float* x) { s[0] = expf(*x); *x = s[0]; }",
      {"k"});
  EXPECT_FALSE(refused_module(good.elf)) << *refused_module(good.elf);
}

TEST(Protocol, DamagedModulesAreRefusedNotRead) {
  const auto module = compile("__global__ void k(float* x) { *x = 1; }", {"k"});
  for (std::size_t cut = 0; cut < module.elf.size(); cut += 97) {
    Emulation emulation(CompiledModule{{"k"}, module.elf.substr(0, cut), {}});
    const Result result = emulation.run();
    ASSERT_TRUE(result.fault) << cut;
    EXPECT_EQ(result.fault->kind, FaultKind::kUnsupported);
  }
}

TEST(Protocol, WhatTheEmulatorLacksIsNamed) {
  const struct {
    const char* source;
    const char* expected;
  } cases[] = {
      {"__global__ void k(int* x) { asm volatile(\"mov.u32 %0, 1;\" : \"=r\"(*x)); }",
       "unsupported on cpu: inline PTX"},
      {"#include <mma.h>\n__global__ void k(int* x) {}",
       "unsupported on cpu: tensor core operations (mma.h)"},
      {"__global__ void k(float* x) { *x = erfinvf(*x); }", "unsupported on cpu: erfinvf"},
      {"#include <cooperative_groups.h>\n__global__ void k(float* x) { "
       "cooperative_groups::this_grid().sync(); }",
       "unsupported on cpu: a barrier of the whole grid"},
      {"__attribute__((no_sanitize(\"thread\"))) __global__ void k(float* x) {}",
       "unsupported on cpu: the word no_sanitize"},
      {"#define CAT(a, b) a##b\n__global__ void k(int* x) { CAT(as, m)(\"nop\"); }",
       "unsupported on cpu: inline PTX"},
  };
  for (const auto& c : cases) {
    const auto module = compile(c.source, {"k"});
    EXPECT_TRUE(module.elf.empty()) << c.source;
    EXPECT_EQ(unsupported_in_log(module.log).value_or(module.log), c.expected);
  }
  EXPECT_FALSE(unsupported_in_log(compile("__global__ void k(int* x) { y = 1; }", {"k"}).log));
}

TEST(Protocol, KernelsThatDoNotExistFailInTheirOwnLine) {
  const auto module = compile("__global__ void k(int* x) {}", {"k", "other"});
  EXPECT_NE(module.log.find("launch:2"), std::string::npos) << module.log;
}

}  // namespace
}  // namespace krl::emulator
