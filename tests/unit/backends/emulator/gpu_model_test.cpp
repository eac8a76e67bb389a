#include "plugins/backends/cpu/gpu_model.hpp"

#include <gtest/gtest.h>

#include "tests/unit/backends/emulator/emulation.hpp"

namespace krl::emulator {
namespace {

struct Shape {
  std::uint32_t grid, block;
};

// Estimated time on a Jetson Nano of launches of k(const float* x, float* y, int n), n = 16384.
double nano_ns(const std::string& source, const std::vector<Shape>& shapes) {
  std::vector<std::string> kernels;
  for (std::size_t i = 0; i < shapes.size(); ++i) kernels.push_back("k" + std::to_string(i));
  Emulation emulation(source, kernels);
  EXPECT_EQ(emulation.compile_log(), "");
  constexpr std::size_t kElements = 16384;
  const auto x = emulation.input<float>("x", std::vector<float>(kElements, 1.0f));
  const auto y = emulation.output<float>("y", kElements);
  for (std::uint32_t i = 0; i < shapes.size(); ++i) {
    emulation.launch(i, {shapes[i].grid, 1, 1}, {shapes[i].block, 1, 1},
                     {i == 0 ? x : y, y, std::int32_t{kElements}});
  }
  const Result result = emulation.run();
  EXPECT_FALSE(result.fault) << result.fault->message;
  if (result.fault) return 0;
  double ns = 0;
  for (const auto& launch : result.runs.at(0)) ns += estimate(launch, *find_gpu("Jetson Nano")).ns;
  return ns;
}

std::string kernel(const std::string& body, int index = 0) {
  return "__global__ void k" + std::to_string(index) +
         "(const float* x, float* y, int n) { int t = threadIdx.x, i = blockIdx.x * blockDim.x + "
         "t; " +
         body + " }\n";
}

TEST(GpuModel, RewardsCoalescing) {
  const double plain = nano_ns(kernel("if (i < n) y[i] = x[i] * 2;"), {{64, 256}});
  const double chunk =
      nano_ns(kernel("for (int k = i * 16; k < i * 16 + 16; k++) y[k] = x[k] * 2;"), {{4, 256}});
  EXPECT_GT(chunk, 1.3 * plain);
}

TEST(GpuModel, RewardsParallelism) {
  const double block =
      nano_ns(kernel("float s = 0; for (int k = t; k < n; k += 256) s += x[k]; for (int d = 16; d; "
                     "d /= 2) s += __shfl_xor_sync(~0u, s, d); if (t % 32 == 0) atomicAdd(y, s);"),
              {{1, 256}});
  const double serial =
      nano_ns(kernel("float s = 0; for (int k = 0; k < n; k++) s += x[k]; y[0] = s;"), {{1, 1}});
  EXPECT_GT(serial, 20 * block);
}

TEST(GpuModel, RewardsVectorsALittle) {
  const double scalar = nano_ns(kernel("if (i < n) y[i] = x[i] * 2;"), {{64, 256}});
  const double vector = nano_ns(kernel("if (i < n / 4) { float4 v = ((const float4*)x)[i]; v.x *= "
                                       "2; v.y *= 2; v.z *= 2; v.w *= 2; ((float4*)y)[i] = v; }"),
                                {{16, 256}});
  EXPECT_LT(vector, 0.99 * scalar);
  EXPECT_GT(vector, 0.70 * scalar);
}

TEST(GpuModel, RewardsTiles) {
  const std::string index =
      "int r = blockIdx.x / 8 * 16 + t / 16, c = blockIdx.x % 8 * 16 + t % 16; float s = 0; ";
  const double naive = nano_ns(kernel(index + "for (int k = 0; k < 128; k++) s += x[r * 128 + k] * "
                                              "x[k * 128 + c]; y[r * 128 + c] = s;"),
                               {{64, 256}});
  const double tiled =
      nano_ns(kernel("__shared__ float a[16][16], b[16][16]; " + index +
                     "for (int q = 0; q < 128; q += 16) { a[t / 16][t % 16] = x[r * 128 + q + t % "
                     "16]; b[t / 16][t % 16] = x[(q + t / 16) * 128 + c]; __syncthreads();"
                     "for (int k = 0; k < 16; k++) s += a[t / 16][k] * b[k][t % 16]; "
                     "__syncthreads(); } y[r * 128 + c] = s;"),
              {{64, 256}});
  EXPECT_GT(naive, 1.3 * tiled);
}

TEST(GpuModel, RewardsPadding) {
  const auto transpose = [](int width) {
    return nano_ns(
        kernel("__shared__ float s[32][" + std::to_string(width) +
               "]; int c = t % 32, r = t / 32, bx = blockIdx.x % 4 * 32, by = blockIdx.x / 4 * 32;"
               "s[r][c] = x[(by + r) * 128 + bx + c]; __syncthreads(); y[(bx + r) * 128 + by + c] "
               "= s[c][r];"),
        {{16, 1024}});
  };
  EXPECT_GT(transpose(32), 1.2 * transpose(33));
}

TEST(GpuModel, RewardsTwoStages) {
  const std::string sum =
      "float s = 0; for (int k = i; k < n; k += gridDim.x * blockDim.x) s += x[k]; for (int d = "
      "16; d; d /= 2) s += __shfl_xor_sync(~0u, s, d); if (t == 0) y[blockIdx.x] = s;";
  const std::string last =
      "float s = t < 32 ? x[t] : 0; for (int d = 16; d; d /= 2) s += __shfl_xor_sync(~0u, s, d); "
      "if (t == 0) y[0] = s;";
  const double two = nano_ns(kernel(sum) + kernel(last, 1), {{32, 32}, {1, 32}});
  const double one = nano_ns(kernel(sum), {{1, 32}});
  EXPECT_GT(one, 2 * two);
}

TEST(GpuModel, DecorationCosts) {
  const double plain = nano_ns(kernel("y[i] = x[i] * 2;"), {{64, 256}});
  const double shuffles = nano_ns(
      kernel("float v = x[i] * 2; if (__shfl_xor_sync(~0u, v, 1) == 12345) v = 0; y[i] = v;"),
      {{64, 256}});
  const double barrier = nano_ns(kernel("__syncthreads(); y[i] = x[i] * 2;"), {{64, 256}});
  const double shared =
      nano_ns(kernel("__shared__ float s[256]; s[t] = x[i]; __syncthreads(); y[i] = s[t] * 2;"),
              {{64, 256}});
  EXPECT_GT(shuffles, plain);
  EXPECT_GT(barrier, plain);
  EXPECT_GT(shared, plain);
}

TEST(GpuModel, NeverFallsWhenACounterRises) {
  LaunchReport base;
  base.grid = {100, 1, 1};
  base.block = {256, 1, 1};
  base.counters.blocks = 100;
  for (const auto& gpu : gpu_table()) {
    const double before = estimate(base, gpu).ns;
    EXPECT_GT(before, 0);
    for (std::uint64_t Counters::*field :
         {&Counters::instructions, &Counters::global_load_requests, &Counters::global_load_sectors,
          &Counters::global_store_requests, &Counters::global_store_sectors,
          &Counters::dram_load_sectors, &Counters::dram_store_sectors, &Counters::shared_wavefronts,
          &Counters::shared_atomics, &Counters::global_atomics, &Counters::hottest_atomic,
          &Counters::shuffles, &Counters::votes, &Counters::warp_barriers, &Counters::blocks}) {
      LaunchReport more = base;
      more.counters.*field += 1'000'000;
      EXPECT_GT(estimate(more, gpu).ns, before) << gpu.name;
    }
    for (std::uint64_t CriticalPath::*field :
         {&CriticalPath::instructions, &CriticalPath::dram_requests, &CriticalPath::l2_requests,
          &CriticalPath::l1_requests, &CriticalPath::shared_requests,
          &CriticalPath::warp_operations, &CriticalPath::barriers, &CriticalPath::atomics}) {
      LaunchReport more = base;
      more.counters.critical.*field += 1000;
      EXPECT_GT(estimate(more, gpu).ns, before) << gpu.name;
    }
    for (const auto& [all, ordered] :
         {std::pair(&CriticalPath::dram_requests, &CriticalPath::ordered_dram_requests),
          std::pair(&CriticalPath::l2_requests, &CriticalPath::ordered_l2_requests),
          std::pair(&CriticalPath::l1_requests, &CriticalPath::ordered_l1_requests)}) {
      LaunchReport more = base;
      more.counters.critical.*all = 1000;
      const double free = estimate(more, gpu).ns;
      more.counters.critical.*ordered = 500;
      EXPECT_GE(estimate(more, gpu).ns, free) << gpu.name;
    }
  }
}

TEST(GpuModel, UnrolledLoadsWaitTogetherAndOrderedOnesDoNot) {
  const GpuDescription& h200 = *find_gpu("H200 SXM");
  LaunchReport launch;
  launch.grid = launch.block = {1, 1, 1};
  launch.counters.blocks = 1;
  const auto waits_ns = [&](std::uint64_t requests, std::uint64_t ordered) {
    launch.counters.critical.dram_requests = requests;
    launch.counters.critical.ordered_dram_requests = ordered;
    return estimate(launch, h200).ns;
  };
  const double none = waits_ns(0, 0), one = waits_ns(1, 0);
  EXPECT_NEAR(one - none, h200.dram_latency / h200.clock_ghz, 1);
  EXPECT_DOUBLE_EQ(waits_ns(13, 0), one);
  EXPECT_NEAR(waits_ns(26, 0) - none, 2 * (one - none), 1e-6);
  EXPECT_NEAR(waits_ns(26, 25) - none, 26 * (one - none), 1e-6);
}

// Measured on an H200: of kernels with the same work, those of more blocks are slower by 1 to 3 %,
// unless the other blocks have nothing to do.
TEST(GpuModel, ManyBlocksEndLaterThanFewIfTheyWaitForMemory) {
  const GpuDescription& h200 = *find_gpu("H200 SXM");
  const auto ns = [&](std::uint32_t blocks, std::uint64_t loads) {
    LaunchReport launch;
    launch.grid = {blocks, 1, 1};
    launch.block = {64, 1, 1};
    launch.counters.blocks = blocks;
    launch.counters.global_load_requests = loads;
    return estimate(launch, h200).ns;
  };
  const double few = ns(3, 34), many = ns(16, 34), idle = ns(16, 2);
  EXPECT_GT(many, few * 1.01);
  EXPECT_LT(many, few * 1.05);
  EXPECT_LT(idle, many * 0.99);
}

TEST(GpuModel, KnowsItsGpusByName) {
  for (const auto& gpu : gpu_table()) EXPECT_EQ(find_gpu(gpu.name), &gpu);
  EXPECT_EQ(find_gpu("H200 SXM")->sms, 132u);
  EXPECT_EQ(find_gpu("Voodoo 2"), nullptr);
}

TEST(GpuModel, OccupancyFollowsThreadsAndSharedMemory) {
  LaunchReport launch;
  launch.block = {256, 1, 1};
  launch.counters.blocks = 1000;
  const GpuDescription& a100 = *find_gpu("A100 SXM");
  EXPECT_EQ(estimate(launch, a100).blocks_per_sm, 8u);
  EXPECT_DOUBLE_EQ(estimate(launch, a100).occupancy, 1.0);
  launch.shared_bytes = 40 << 10;
  EXPECT_EQ(estimate(launch, a100).blocks_per_sm, 4u);
  EXPECT_DOUBLE_EQ(estimate(launch, a100).occupancy, 0.5);
  launch.shared_bytes = 200 << 10;
  EXPECT_EQ(estimate(launch, a100).blocks_per_sm, 0u);
}

}  // namespace
}  // namespace krl::emulator
