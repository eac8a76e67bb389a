// Memory that nobody has written has no value.
#include <gtest/gtest.h>

#include <regex>
#include <set>

#include "tests/unit/backends/machine/emulation.hpp"

namespace krl::machine {
namespace {

struct Reading {
  const char* name;
  const char* source;  // kernels k(x, scratch, y, n) and, if there is one, begin(scratch)
  FaultKind kind;      // kSignal: there is none
  std::uint32_t line;
  const char* message = "";  // [#]: of any element
};

Result run_unset(const char* source, Order order = Order::kForward) {
  const bool begins = std::string_view(source).find("void begin(") != std::string_view::npos;
  Emulation emulation(
      source, begins ? std::vector<std::string>{"k", "begin"} : std::vector<std::string>{"k"});
  const auto x = emulation.input<float>("x", std::vector<float>(64, 1.0f));
  const auto scratch = emulation.unset<float>("scratch", 64, Role::kScratch);
  const auto y = emulation.unset<float>("y", 64);
  if (begins) emulation.launch(1, {1, 1, 1}, {32, 1, 1}, {scratch});
  emulation.launch(0, {2, 1, 1}, {32, 1, 1}, {x, scratch, y, std::int32_t{64}});
  return emulation.run(order);
}

#define HEAD                                                                            \
  "__global__ void k(const float* x, float* scratch, float* y, int n) { const int t = " \
  "threadIdx.x, i = blockIdx.x * 32 + t;\n"

class Initialisation : public ::testing::TestWithParam<Reading> {};
TEST_P(Initialisation, IsTracked) {
  const Result result = run_unset(GetParam().source);
  if (GetParam().kind == FaultKind::kSignal) {
    EXPECT_FALSE(result.fault) << result.fault->message;
    EXPECT_TRUE(result.unwritten.empty());
    return;
  }
  ASSERT_TRUE(result.fault);
  EXPECT_EQ(result.fault->kind, GetParam().kind) << result.fault->message;
  EXPECT_EQ(result.fault->line, GetParam().line);
  static const std::regex kIndex(R"(\[\d+\])");
  const std::string of_any = std::regex_replace(result.fault->message, kIndex, "[#]");
  const bool any = std::string_view(GetParam().message).find('#') != std::string_view::npos;
  EXPECT_NE((any ? of_any : result.fault->message).find(GetParam().message), std::string::npos)
      << result.fault->message;
}
INSTANTIATE_TEST_SUITE_P(
    Memory, Initialisation,
    ::testing::Values(
        Reading{"output", HEAD "y[i] = fmaxf(y[i], x[i]); }", FaultKind::kUninitialisedGlobal, 2,
                "y[0] is read, but no launch has written it"},
        Reading{"scratch", HEAD "\ny[i] = scratch[i ^ 1]; }", FaultKind::kUninitialisedGlobal, 3,
                "scratch[1] is read"},
        Reading{"scattered", HEAD "y[i] = scratch[i * 7 % 64]; }", FaultKind::kUninitialisedGlobal,
                2, "scratch[0] is read"},
        Reading{"vector", HEAD "((float4*)y)[t / 2] = ((const float4*)scratch)[t / 2]; }",
                FaultKind::kUninitialisedGlobal, 2, "scratch[0] is read"},
        Reading{"half_written",
                HEAD "if (i < 20) scratch[i] = 1;\n__syncthreads();\ny[i] = "
                     "blockIdx.x == 0 ? scratch[t] : 0; }",
                FaultKind::kUninitialisedGlobal, 4, "scratch[20] is read"},
        Reading{"maximum", HEAD "atomicMax((int*)y + i, 3); }", FaultKind::kUninitialisedGlobal, 2,
                "y[0] is updated, but no launch has written it"},
        Reading{"swap", HEAD "atomicCAS((int*)y + i, -1, 3); }", FaultKind::kUninitialisedGlobal, 2,
                "y[#] is updated"},
        Reading{"exchange_that_is_read",
                HEAD "y[i] = __int_as_float(atomicExch((int*)scratch + i, 3)); }",
                FaultKind::kUninitialisedGlobal, 2, "scratch[#] is updated"},
        Reading{"half_of_an_atomic",
                HEAD "((int*)scratch)[2 * t] = 0;\natomicAdd((unsigned long long*)scratch + t, "
                     "1ull); }",
                FaultKind::kUninitialisedGlobal, 3, "scratch[0] is updated"},
        Reading{"shared_atomic",
                HEAD "__shared__ int s;\natomicAdd(&s, 1);\n__syncthreads();\n"
                     "y[i] = s; }",
                FaultKind::kUninitialisedShared, 3, "shared s is updated, but no thread of"},
        Reading{"shared_of_the_block_before",
                HEAD "__shared__ int s;\nif (i == 0) s = 0;\n__syncthreads();\natomicMax(&s, i);\n"
                     "y[i] = 1; }",
                FaultKind::kUninitialisedShared, 5, "shared s is updated"},
        Reading{
            "local", HEAD "volatile float a[4];\na[n & 1] = x[i];\ny[i] = a[2 + (t & 1)] + 1; }",
            FaultKind::kUninitialisedLocal, 4, "byte 8 of the thread's local variables is read"},
        Reading{"local_of_the_block_before",
                HEAD "volatile float a[4];\nif (blockIdx.x == 0) a[t & 3] = 77;\n"
                     "y[i] = blockIdx.x == 0 ? 0 : a[t & 3] + 1; }",
                FaultKind::kUninitialisedLocal, 4},
        Reading{"local_of_the_call_before",
                "__device__ __noinline__ float f(int i, int j, float v) { volatile float a[4];\n"
                "if (v > 0) a[i] = v;\nreturn a[j] + 1; }\n" HEAD
                "float v = f(n & 3, n & 3, x[i]);\ny[i] = f(n & 3, n & 3, -v); }",
                FaultKind::kUninitialisedLocal, 3},

        Reading{"written_before",
                "__global__ void begin(float* p) { p[threadIdx.x] = 1; "
                "p[threadIdx.x + 32] = 2; }\n" HEAD
                "atomicAdd(scratch + i, 1.0f);\ny[i] = scratch[i]; }",
                FaultKind::kSignal, 0},
        Reading{"exchange",
                HEAD "atomicExch((int*)scratch + i, 3);\natomicAdd((int*)scratch + i, "
                     "3);\ny[i] = scratch[i]; }",
                FaultKind::kSignal, 0},
        Reading{"shared_exchange",
                HEAD "__shared__ int s[32];\natomicExch(s + t, 3);\natomicAdd(s + t, 3);\n"
                     "y[i] = s[t]; }",
                FaultKind::kSignal, 0},
        Reading{"bytes",
                HEAD "for (int k = 0; k < 4; k++) ((volatile char*)scratch)[4 * i + k] = "
                     "k;\ny[i] = scratch[i]; }",
                FaultKind::kSignal, 0},
        Reading{"padding",
                HEAD "scratch[2 * t] = 1;\nconst float2 v = __ldcg((float2*)scratch + t);\n"
                     "y[i] = v.x + v.y * 0; }",
                FaultKind::kSignal, 0},
        Reading{"module_variable",
                "__device__ int counter;\n" HEAD "atomicAdd(&counter, 1);\ny[i] = 1; }",
                FaultKind::kSignal, 0},
        Reading{"local_copied",
                HEAD "float a[4], b[4];\na[n & 1] = x[i];\nfor (int k = 0; k < 4; k++) "
                     "b[(k + n) & 3] = a[(k + n) & 3];\ny[i] = b[n & 1]; }",
                FaultKind::kSignal, 0}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(Initialisation, OutputsThatARunLeavesOutAreReported) {
  const auto unwritten = [](const char* source) { return run_unset(source).unwritten; };
  EXPECT_TRUE(unwritten(HEAD "y[i] = -1; }").empty());
  EXPECT_TRUE(unwritten(HEAD "for (int k = 0; k < 4; k++) ((char*)y)[4 * i + k] = -1; }").empty());
  EXPECT_EQ(unwritten(HEAD "if (i > 2 && i != 40) y[i] = NAN; }"),
            (std::vector<Unwritten>{{0, 2, 0, 4}}));
  EXPECT_EQ(unwritten(HEAD "if (i < 60) y[i] = 1; else ((char*)y)[4 * i] = 1; }"),
            (std::vector<Unwritten>{{0, 2, 60, 4}}));
}

// What 64 threads get, as bits.
std::set<std::uint32_t> garbage_of(const char* body) {
  Emulation emulation("__global__ void k(unsigned* y) { int t = threadIdx.x; unsigned v = 0;\n" +
                          std::string(body) + "\ny[t] = v; }",
                      {"k"});
  const auto y = emulation.unset<std::uint32_t>("y", 60);
  emulation.launch(0, {1, 1, 1}, {60, 1, 1}, {y});
  const Result result = emulation.run();
  EXPECT_FALSE(result.fault) << result.fault->message;
  EXPECT_EQ(result.unset.size(), 1u);
  for (const Unset& unset : result.unset) EXPECT_EQ(unset.line, 2u) << unset.what;
  const auto values = emulation.values<std::uint32_t>(y);
  return {values.begin(), values.end()};
}

TEST(Initialisation, GarbageHasEveryKindOfValue) {
  for (const char* body : {"asm volatile(\"{.reg .u32 none; mov.u32 %0, none;}\" : \"=r\"(v));",
                           "if (t >= 32) v = __shfl_sync(~0u, t, 28 + t % 4);"}) {
    const auto values = garbage_of(body);
    EXPECT_GE(values.size(), 5u) << body;
    for (const std::uint32_t value : {0xffffffffu, 0x7f7f7f7fu, 0xfefefefeu}) {
      EXPECT_EQ(values.count(value), 1u) << body << value;
    }
  }
}

#undef HEAD

}  // namespace
}  // namespace krl::machine
