#include <gtest/gtest.h>

#include <algorithm>
#include <string_view>

#include "tests/unit/backends/machine/emulation.hpp"

namespace krl::machine {
namespace {

constexpr std::int32_t kElements = 1000;

struct Kernel {
  const char* name;
  // k(const float* x, float* y, int* z, int n): x, y of 1024 elements, z of 64, all 0; 4 blocks of
  // 256. The line that races ends with "// race", unless it is the second.
  const char* source;
};

std::uint32_t racing_line(std::string_view source) {
  const auto at = source.find("// race");
  if (at == std::string_view::npos) return 2;
  return static_cast<std::uint32_t>(1 + std::count(source.begin(), source.begin() + at, '\n'));
}

Result run_races(const char* source, Order order) {
  Emulation emulation(source, {"k"});
  EXPECT_FALSE(emulation.job.kernels.empty()) << emulation.compile_log();
  emulation.job.seed = 12345;
  const auto x = emulation.input<float>("x", std::vector<float>(1024, 1.0f));
  const auto y = emulation.output<float>("y", 1024);
  const auto z = emulation.output<int>("z", 64);
  emulation.launch(0, {4, 1, 1}, {256, 1, 1}, {x, y, z, kElements}, 1024);
  return emulation.run(order);
}

#define HEAD                                                                               \
  "__global__ void k(const float* x, float* y, int* z, int n) { int t = threadIdx.x, i = " \
  "blockIdx.x * blockDim.x + t;\n"

class Racing : public ::testing::TestWithParam<Kernel> {};
TEST_P(Racing, IsFoundInEveryOrder) {
  for (const Order order : {Order::kForward, Order::kReversed, Order::kShuffled}) {
    const Result result = run_races(GetParam().source, order);
    ASSERT_TRUE(result.fault) << static_cast<int>(order);
    // A read that comes first sees memory that no thread has written yet.
    EXPECT_TRUE(result.fault->kind == FaultKind::kDataRace ||
                result.fault->kind == FaultKind::kUninitialisedShared)
        << result.fault->message;
    EXPECT_EQ(result.fault->line, racing_line(GetParam().source)) << result.fault->message;
  }
}
INSTANTIATE_TEST_SUITE_P(
    Memory, Racing,
    ::testing::Values(
        Kernel{"no_barrier_after_fill", HEAD
               "__shared__ float s[256]; s[t] = x[0] * t; y[blockIdx.x * 256 + t] = s[t ^ 64]; }"},
        Kernel{"tree_without_barrier", HEAD R"(  __shared__ float s[256];
  s[t] = x[0];
  __syncthreads();
  for (int d = 128; d; d /= 2)
    if (t < d) s[t] += s[t + d];  // race
  if (t == 0) y[i] = s[0];
})"},
        Kernel{"one_barrier_in_a_loop", HEAD R"(  __shared__ float s;
  for (int r = 0; r < 4; r++) {
    if (t == r) s = r;  // race
    __syncthreads();
    y[blockIdx.x * 256 + t] += s;
  }
})"},
        Kernel{"warp_without_syncwarp", HEAD R"(  __shared__ float s[256];
  s[t] = t;
  __syncwarp();
  float v = s[t ^ 1];
  s[t] = v + 1;  // race
  y[blockIdx.x * 256 + t] = s[t ^ 1];
})"},
        Kernel{"everyone_stores_its_own", HEAD "y[0] = i; }"},
        Kernel{"sum_without_atomic", HEAD "y[0] += x[i % 1000]; }"},
        Kernel{"stencil_in_place", HEAD "if (i > 0 && i < n) y[i] = y[i - 1] + i; }"},
        Kernel{"histogram_without_barrier", HEAD R"(  __shared__ int h[8];
  if (t < 8) h[t] = 0;
  __syncthreads();
  atomicAdd(&h[t % 8], 1);
  if (t < 8) z[t + 8 * blockIdx.x] = h[t];  // race
})"},
        Kernel{"blocks_exchange", HEAD "y[i] = i; if (t == 0) y[i] = y[(i + 256) % 1024] + 1; }"},
        Kernel{
            "bytes", HEAD
            "__shared__ unsigned char s[256]; s[t] = t; y[blockIdx.x * 256 + t] = s[t ^ 32]; }"}),
    [](const auto& info) { return std::string(info.param.name); });

class Correct : public ::testing::TestWithParam<Kernel> {};
TEST_P(Correct, IsNeverFlagged) {
  for (const Order order : {Order::kForward, Order::kReversed, Order::kShuffled}) {
    const Result result = run_races(GetParam().source, order);
    EXPECT_FALSE(result.fault) << result.fault->message << " in line " << result.fault->line;
  }
}
INSTANTIATE_TEST_SUITE_P(
    Memory, Correct,
    ::testing::Values(
        Kernel{"own_element", HEAD "if (i < n) y[i] += x[i]; }"},
        Kernel{"tree", HEAD
               R"(  __shared__ float s[256];
  s[t] = x[i];
  __syncthreads();
  for (int d = 128; d; d /= 2) {
    if (t < d) s[t] += s[t + d];
    __syncthreads();
  }
  if (t == 0) y[blockIdx.x] = s[0];
})"},
        Kernel{"tree_then_warp", HEAD R"(  __shared__ float s[256];
  s[t] = x[i];
  __syncthreads();
  for (int d = 128; d > 16; d /= 2) {
    if (t < d) s[t] += s[t + d];
    __syncthreads();
  }
  if (t < 32)
    for (int d = 16; d; d /= 2) {
      float v = s[t + d];
      __syncwarp();
      s[t] += v;
      __syncwarp();
    }
  if (t == 0) y[blockIdx.x] = s[0];
})"},
        Kernel{"shuffles_then_shared", HEAD R"(  __shared__ float s[8];
  float v = x[i];
  for (int d = 16; d; d /= 2) v += __shfl_down_sync(~0u, v, d);
  if (t % 32 == 0) s[t / 32] = v;
  __syncthreads();
  if (t < 32) {
    v = t < 8 ? s[t] : 0;
    for (int d = 4; d; d /= 2) v += __shfl_down_sync(~0u, v, d);
    if (t == 0) y[blockIdx.x] = v;
  }
})"},
        Kernel{"flag_of_the_same_value", HEAD "if (x[i] > 0) z[0] = 1; }"},
        Kernel{"all_lanes_store_the_sum", HEAD
               "__shared__ float s; float v = __shfl_xor_sync(~0u, x[i], 1); s = v; y[i] = s; }"},
        Kernel{"early_exit_before_barrier", HEAD R"(  __shared__ float s[256];
  if (t >= 200) return;
  s[t] = x[i];
  __syncthreads();
  y[i] = s[199 - t];
})"},
        Kernel{"histogram", HEAD R"(  __shared__ int h[8];
  if (t < 8) h[t] = 0;
  __syncthreads();
  atomicAdd(&h[t % 8], 1);
  __syncthreads();
  if (t < 8) atomicAdd(&z[t], h[t]);
})"},
        Kernel{"test_before_atomic", HEAD "if (z[0] < i) atomicMax(&z[0], i); }"},
        Kernel{"last_block", HEAD R"(  __shared__ bool last;
  y[i] = i;
  __threadfence();
  __syncthreads();
  if (t == 0) last = atomicInc((unsigned*)z, 3) == 3;
  __syncthreads();
  if (last) {
    float s = 0;
    for (int k = t; k < 1024; k += 256) s += y[k];
    y[t] = s;
  }
})"},
        Kernel{"double_buffer", HEAD R"(  __shared__ float s[2][256];
  s[0][t] = x[i];
  __syncthreads();
  int b = 0;
  for (int d = 1; d < 256; d *= 2) {
    s[1 - b][t] = s[b][t] + (t >= d ? s[b][t - d] : 0);
    b = 1 - b;
    __syncthreads();
  }
  y[i] = s[b][t];
})"},
        Kernel{"neighbouring_bytes", HEAD R"(  __shared__ unsigned char s[256];
  s[t] = t;
  __syncthreads();
  ((unsigned char*)y)[i] = s[255 - t];
})"},
        Kernel{"dynamic_shared", HEAD
               "extern __shared__ float s[]; s[t] = x[i]; __syncthreads(); y[i] = s[t ^ 1]; }"},
        Kernel{"volatile_stores_of_blocks",
               HEAD "volatile float* s = y; if (t == 0) *s = blockIdx.x; }"},
        Kernel{"volatile_flag",
               HEAD "volatile int* f = z; if (i == 0) f[1] = 1; if (f[1] == 5) y[i] = 1; }"},
        Kernel{"volatile_release_of_a_lock", HEAD R"(  if (t == 0) {
    while (atomicCAS(z, 0, 1) != 0) {}
    __threadfence();
    y[0] += x[i];
    __threadfence();
    *(volatile int*)z = 0;
  }
})"},
        Kernel{"aggregated_atomic", HEAD R"(  if (i % 3 == 0) {
    unsigned m = __activemask();
    int leader = __ffs(m) - 1, base = 0;
    if ((t & 31) == leader) base = atomicAdd(&z[0], __popc(m));
    base = __shfl_sync(m, base, leader);
    y[base + __popc(m & ((1u << (t & 31)) - 1))] = i;
  }
})"},
        Kernel{"transpose_tile", HEAD R"(  __shared__ float s[16][17];
  s[t / 16][t % 16] = x[i];
  __syncthreads();
  y[i] = s[t % 16][t / 16];
})"}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(Races, NameBothThreads) {
  const Result result = run_races(
      HEAD "__shared__ float s[256]; s[t] = 1; __syncthreads(); s[t] += 1; y[i] = s[t ^ 32]; }",
      Order::kForward);
  ASSERT_TRUE(result.fault);
  EXPECT_EQ(result.fault->message,
            "shared s[32] is written by thread (32, 0, 0) and read by thread (0, 0, 0) without a "
            "barrier between the two");
}

// Triton has several threads store what each has computed of the same inputs.
TEST(Races, RedundantStoresAreNoneWhereACompilerMakesThem) {
  constexpr std::string_view kSource = R"(
__global__ void store(float* out) {
  __shared__ float word[2];
  word[threadIdx.x % 2] = 1.0f + threadIdx.x * 1e-7f;
  __syncthreads();
  out[threadIdx.x] = word[0];
})";
  const auto fault_of = [&](bool redundant_threads) {
    Emulation run(kSource, {"store"});
    const auto out = run.output<float>("out", 64);
    run.launch(0, {1, 1, 1}, {64, 1, 1}, {out});
    run.redundant_threads = redundant_threads;
    const Result result = run.run();
    return result.fault ? name_of(result.fault->kind) : "none";
  };
  EXPECT_EQ(fault_of(false), "data_race");
  EXPECT_EQ(fault_of(true), "none");
}

// Of three warps that repeat the first one's loads, only that one stores.
TEST(Races, RepeatedLoadsAreNoneUnlessSomethingComesOfThem) {
  constexpr std::string_view kSource = R"(
__global__ void add(float* y) {
  float value;
  asm volatile("ld.global.f32 %0, [%1];" : "=f"(value) : "l"(y + threadIdx.x % 32));
  if (threadIdx.x < 32) y[threadIdx.x] = value + 1;
})";
  const auto fault_of = [&](bool redundant_threads) {
    Emulation run(kSource, {"add"});
    const auto y = run.output<float>("y", 32);
    run.launch(0, {1, 1, 1}, {128, 1, 1}, {y});
    run.redundant_threads = redundant_threads;
    const Result result = run.run();
    EXPECT_EQ(result.encounters.empty(), !redundant_threads) << "other orders are tried";
    return result.fault ? name_of(result.fault->kind) : "none";
  };
  EXPECT_EQ(fault_of(false), "data_race");
  EXPECT_EQ(fault_of(true), "none");
}

}  // namespace
}  // namespace krl::machine
