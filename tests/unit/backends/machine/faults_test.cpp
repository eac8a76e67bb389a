#include <gtest/gtest.h>

#include "tests/unit/backends/machine/emulation.hpp"

namespace krl::machine {
namespace {

struct FaultCase {
  const char* name;
  const char* source;  // kernel k(float* x, int n), x of 64 elements, n = 64; 64 threads
  FaultKind kind;
  std::uint32_t line;
  const char* message;  // a part of it
};

class Faults : public ::testing::TestWithParam<FaultCase> {};

TEST_P(Faults, AreFoundWithTheirLine) {
  const FaultCase& c = GetParam();
  Emulation emulation(c.source, {"k"});
  ASSERT_EQ(emulation.compile_log(), "");
  emulation.job.work_limit = 200'000;
  const auto x = emulation.output<float>("x", 64, 1.0f);
  emulation.launch(0, {1, 1, 1}, {64, 1, 1}, {x, std::int32_t{64}}, 64);
  const Result result = emulation.run();
  ASSERT_TRUE(result.fault);
  EXPECT_EQ(name_of(result.fault->kind), name_of(c.kind)) << result.fault->message;
  EXPECT_EQ(result.fault->line, c.line) << result.fault->message;
  EXPECT_NE(result.fault->message.find(c.message), std::string::npos) << result.fault->message;
  EXPECT_EQ(result.fault->kernel, c.kind == FaultKind::kUnsupported ? "" : "k");
}

INSTANTIATE_TEST_SUITE_P(
    Machine, Faults,
    ::testing::Values(
        FaultCase{"past_the_end",
                  R"(__global__ void k(float* x, int n) {
  int i = threadIdx.x;
  x[i + 1] = 2;
})",
                  FaultKind::kIllegalAddress, 3, "x[64] is out of bounds: x has 64 elements"},
        FaultCase{"before_the_start",
                  R"(__global__ void k(float* x, int n) {
  float v = x[(int)threadIdx.x - 2];
  x[threadIdx.x] = v;
})",
                  FaultKind::kIllegalAddress, 2, "x[-2] is out of bounds"},
        FaultCase{"null",
                  R"(__global__ void k(float* x, int n) {
  float* p = (float*)(n - 64ll);
  *p = 1;
})",
                  FaultKind::kIllegalAddress, 3, "null pointer"},
        FaultCase{"wild",
                  R"(__global__ void k(float* x, int n) {

  *(float*)(0x7fff00000000ull + n) = 1;
})",
                  FaultKind::kIllegalAddress, 3, "belongs to no buffer"},
        FaultCase{"shared_array",
                  R"(__global__ void k(float* x, int n) {
  __shared__ float s[32];
  s[threadIdx.x] = 1;
  __syncthreads();
  x[0] = s[0];
})",
                  FaultKind::kIllegalAddress, 3,
                  "at byte 192 of shared memory, of which the block has 192 bytes"},
        FaultCase{"dynamic_shared",
                  R"(__global__ void k(float* x, int n) {
  extern __shared__ float s[];
  s[threadIdx.x] = 1;
})",
                  FaultKind::kIllegalAddress, 3, "of which the block has 64 bytes"},
        FaultCase{"local_array",
                  R"(__global__ void k(float* x, int n) {
  float a[4];
  for (int i = 0; i < 5; i++)
    a[i] = x[i];
  x[0] = a[n & 3];
})",
                  FaultKind::kIllegalAddress, 4, "at byte 16 of the thread's local variables"},
        FaultCase{"misaligned",
                  R"(__global__ void k(float* x, int n) {
  float4* p = (float4*)(x + 1);
  *p = make_float4(1, 2, 3, 4);
})",
                  FaultKind::kMisaligned, 3, "16 bytes"},
        FaultCase{"barrier_some_never_reach",
                  R"(__global__ void k(float* x, int n) {
  if (threadIdx.x < 16)
    __syncthreads();
  else
    __syncwarp();
  x[0] = 1;
})",
                  FaultKind::kDivergentBarrier, 5, "never arrive"},
        FaultCase{"two_barriers",
                  R"(__global__ void k(float* x, int n) {
  if (threadIdx.x < 16) {
    x[0] = 1;
    __syncthreads();
  } else {
    __syncthreads();
  }
})",
                  FaultKind::kDivergentBarrier, 4, "different barriers: in line 6 and in line 4"},
        FaultCase{"two_barriers_in_one_line",
                  R"(__global__ void k(float* x, int n) {
  if (threadIdx.x < 16) { x[0] = 1; __syncthreads(); x[1] = 2; } else { __syncthreads(); }
})",
                  FaultKind::kDivergentBarrier, 2, "different barriers: two of line 2"},
        FaultCase{"two_calls_in_one_line",
                  R"(__device__ void meet(float* x) { x[threadIdx.x] = 1; __syncthreads(); }
__global__ void k(float* x, int n) {
  if (threadIdx.x & 1) { meet(x); x[threadIdx.x] = 2; } else { meet(x); x[threadIdx.x] = 3; }
})",
                  FaultKind::kDivergentBarrier, 3, "two of line 3"},
        FaultCase{"one_barrier_more_for_half_of_a_warp",
                  R"(__global__ void k(float* x, int n) {
  if (threadIdx.x % 32 < 16) __syncthreads(); __syncthreads(); x[0] = 1;
})",
                  FaultKind::kDivergentBarrier, 2, "two of line 2"},
        FaultCase{"shuffle_outside_mask",
                  R"(__global__ void k(float* x, int n) {
  x[threadIdx.x] = __shfl_down_sync(0xffff, x[threadIdx.x], 1);
})",
                  FaultKind::kDivergentBarrier, 2, "does not name"},
        FaultCase{"missing_barrier",
                  R"(__global__ void k(float* x, int n) {
  __shared__ float s[64];
  s[threadIdx.x] = 1;
  x[threadIdx.x] = s[63 - threadIdx.x] + s[threadIdx.x];
})",
                  FaultKind::kUninitialisedShared, 4, "shared s[63]"},
        FaultCase{"trap", R"(__global__ void k(float* x, int n) {
  if (x[0] > 0)
    __trap();
})",
                  FaultKind::kTrap, 3, "trap"},
        FaultCase{"assert", R"(__global__ void k(float* x, int n) {
  assert(n < 3);
})",
                  FaultKind::kTrap, 2, "assertion"},
        FaultCase{"endless", R"(__global__ void k(float* x, int n) {
  while (n)
    x[0] += 1;
})",
                  FaultKind::kWorkLimit, 2, "200000"},
        FaultCase{"recursion",
                  R"(__device__ __noinline__ float f(float* x, int n) {
  return n == 0 ? 1 : f(x, n + 1) * x[n & 63];
}
__global__ void k(float* x, int n) {
  x[0] = f(x, n);
})",
                  FaultKind::kStackOverflow, 2, "stack"},
        FaultCase{"big_local",
                  R"(__global__ void k(float* x, int n) {
  volatile float a[140000];
  a[n] = 1;
  x[0] = a[n];
})",
                  FaultKind::kUnsupported, 1, "512 KiB"},
        FaultCase{"atomic_outside",
                  R"(__global__ void k(float* x, int n) {


  atomicAdd(x + n, 1.0f);
})",
                  FaultKind::kIllegalAddress, 4, "x[64]"},
        FaultCase{"far_before_a_buffer",
                  R"(__global__ void k(float* x, int n) {
  float s = 0;
  for (int i = 0; i < n; i++)
    s += x[-1024 * i];
  x[0] = s;
})",
                  FaultKind::kIllegalAddress, 4, "x[-1024]"}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(Faults, WritingAnInputIsNamed) {
  Emulation emulation(R"(__global__ void k(float* x) {
  x[3] = 1;
})",
                      {"k"});
  const auto x = emulation.input<float>("x", std::vector<float>(8, 2.0f));
  emulation.launch(0, {1, 1, 1}, {1, 1, 1}, {x});
  const Result result = emulation.run();
  ASSERT_TRUE(result.fault);
  EXPECT_EQ(result.fault->kind, FaultKind::kIllegalAddress);
  EXPECT_EQ(result.fault->message, "x[3] is written, but x may only be read");
  EXPECT_EQ(result.fault->line, 2u);
}

TEST(Faults, NameBlockThreadAndLaunch) {
  Emulation emulation(
      R"(__global__ void k(float* x, int n) {
  int i = blockIdx.y * 16 + threadIdx.y * 4 + threadIdx.x;
  if (i < n) x[i] = 1;
})",
      {"k"});
  const auto x = emulation.output<float>("x", 40);
  emulation.launch(0, {1, 3, 1}, {4, 4, 1}, {x, std::int32_t{40}});
  emulation.launch(0, {1, 3, 1}, {4, 4, 1}, {x, std::int32_t{48}});
  const Result result = emulation.run();
  ASSERT_TRUE(result.fault);
  EXPECT_EQ(result.fault->launch, 1u);
  EXPECT_EQ(result.fault->block, (Dim3{0, 2, 0}));
  EXPECT_EQ(result.fault->thread, (Dim3{0, 2, 0}));
  EXPECT_EQ(result.fault->line, 3u);
}

TEST(Launches, AreCheckedBeforeAnythingRuns) {
  const auto module = compile(
      R"(__global__ void k(float* x, int n, float s) {
  __shared__ float t[64];
  t[0] = s;
  x[n] = t[0];
})",
      {"k"});
  const auto error = [&](Dim3 grid, Dim3 block, std::vector<Argument> arguments,
                         std::uint32_t shared) {
    Emulation emulation(module);
    const auto x = emulation.output<float>("x", 4);
    for (auto& argument : arguments) {
      if (std::holds_alternative<BufferArgument>(argument)) argument = x;
    }
    emulation.launch(0, grid, block, arguments, shared);
    const Result result = emulation.run();
    EXPECT_FALSE(result.fault);
    return result.launch_error.value_or(LaunchError{0, 0, -2, "none"});
  };
  const BufferArgument x;
  const std::int32_t n = 1;  // PTX does not tell pointers from 64-bit integers
  EXPECT_EQ(error({1, 1, 1}, {1, 1, 1}, {x, n, 2.0f}, 0).message, "none");
  EXPECT_EQ(error({1, 1, 1}, {1, 1, 1}, {x, std::int64_t{1}, 2.0f}, 0).message, "none");
  EXPECT_EQ(error({1, 1, 1}, {1, 1, 1}, {x, n}, 0).message,
            "the kernel takes 3 arguments, the launch has 2");
  EXPECT_EQ(error({1, 1, 1}, {1, 1, 1}, {x, x, 2.0f}, 0).argument, 1);
  EXPECT_EQ(error({1, 1, 1}, {1, 1, 1}, {x, std::int64_t{1} << 40, 2.0f}, 0).argument, 1);
  EXPECT_EQ(error({1, 1, 1}, {1, 1, 1}, {x, n, n}, 0).argument, 2);
  EXPECT_NE(error({1, 1, 1}, {2048, 1, 1}, {x, n, 2.0f}, 0).message.find("block.x"),
            std::string::npos);
  EXPECT_NE(error({1, 1, 1}, {64, 32, 1}, {x, n, 2.0f}, 0).message.find("2048 threads"),
            std::string::npos);
  EXPECT_NE(error({1, 70000, 1}, {1, 1, 1}, {x, n, 2.0f}, 0).message.find("grid.y"),
            std::string::npos);
  EXPECT_NE(error({0, 1, 1}, {1, 1, 1}, {x, n, 2.0f}, 0).message.find("grid.x"), std::string::npos);
  EXPECT_NE(error({1, 1, 1}, {1, 1, 1}, {x, n, 2.0f}, (48 << 10) + 4).message.find("needs 49"),
            std::string::npos);
}

TEST(Launches, DeviceVariablesStartEveryRunAnew) {
  Emulation emulation("__device__ int calls = 5;\n__global__ void k(int* x) { x[0] = ++calls; }",
                      {"k"});
  const auto x = emulation.output<int>("x", 1);
  emulation.launch(0, {1, 1, 1}, {1, 1, 1}, {x});
  emulation.launch(0, {1, 1, 1}, {1, 1, 1}, {x});
  for (int repeat = 0; repeat < 2; ++repeat) {
    EXPECT_FALSE(emulation.run().fault);
    EXPECT_EQ(emulation.values<int>(x)[0], 7);
  }
}

}  // namespace
}  // namespace krl::machine
