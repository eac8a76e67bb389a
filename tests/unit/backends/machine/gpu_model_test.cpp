#include "plugins/backends/cpu/gpu_model.hpp"

#include <gtest/gtest.h>

#include "plugins/backends/compiled/compute_capability.hpp"
#include "tests/unit/backends/machine/emulation.hpp"

namespace krl::machine {
namespace {

struct Launch {
  std::uint32_t grid, block;
};

// Estimated time on a Jetson Orin Nano of launches of k(const float* x, float* y, int n), n =
// 16384.
double nano_ns(const std::string& source, const std::vector<Launch>& shapes) {
  std::vector<std::string> kernels;
  for (std::size_t i = 0; i < shapes.size(); ++i) kernels.push_back("k" + std::to_string(i));
  Emulation emulation(source, kernels);
  EXPECT_EQ(emulation.compile_log(), "");
  constexpr std::size_t kElements = 16384;
  const auto x = emulation.input<float>("x", std::vector<float>(kElements, 1.0f));
  const auto y = emulation.output<float>("y", kElements);
  const GpuDescription& nano = *find_gpu("Jetson Orin Nano");
  for (std::uint32_t i = 0; i < shapes.size(); ++i) {
    const Dim3 block = {shapes[i].block, 1, 1};
    emulation.launch(i, {shapes[i].grid, 1, 1}, block, {i == 0 ? x : y, y, std::int32_t{kElements}},
                     0, resident_blocks(block, 0, {}, nano));
  }
  const Result result = emulation.run();
  EXPECT_FALSE(result.fault) << result.fault->message;
  if (result.fault) return 0;
  double ns = 0;
  for (const auto& launch : result.runs.at(0)) {
    ns += estimate(launch, AssembledKernel{}, nano).ns;
  }
  return ns;
}

std::string kernel(const std::string& body, int index = 0) {
  return "__global__ void k" + std::to_string(index) +
         "(const float* x, float* y, int n) { int t = threadIdx.x, i = blockIdx.x * blockDim.x + "
         "t; " +
         body + " }\n";
}

TEST(GpuModel, KnowsEveryGpuThatTheOptionLists) {
  std::string names;
  for (const GpuDescription& gpu : gpu_table()) {
    names += (names.empty() ? "" : "|") + std::string(gpu.name);
    EXPECT_NE(compiled::find_arch(gpu.arch), nullptr) << gpu.name;
  }
  EXPECT_EQ(names, kGpuNames);
}

TEST(GpuModel, RewardsCoalescing) {
  const double plain = nano_ns(kernel("if (i < n) y[i] = x[i] * 2;"), {{64, 256}});
  const double chunk =
      nano_ns(kernel("for (int k = i * 16; k < i * 16 + 16; k++) y[k] = x[k] * 2;"), {{4, 256}});
  EXPECT_GT(chunk, 1.3 * plain);
}

TEST(GpuModel, RewardsParallelism) {
  const double block = nano_ns(kernel(R"(float s = 0;
for (int k = t; k < n; k += 256) s += x[k];
for (int d = 16; d; d /= 2) s += __shfl_xor_sync(~0u, s, d);
if (t % 32 == 0) atomicAdd(y, s);)"),
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
      R"(float s = 0;
for (int k = i; k < n; k += gridDim.x * blockDim.x) s += x[k];
for (int d = 16; d; d /= 2) s += __shfl_xor_sync(~0u, s, d);
if (t == 0) y[blockIdx.x] = s;)";
  const std::string last =
      R"(float s = t < 32 ? x[t] : 0;
for (int d = 16; d; d /= 2) s += __shfl_xor_sync(~0u, s, d);
if (t == 0) y[0] = s;)";
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
    const double before = estimate(base, {}, gpu).ns;
    EXPECT_GT(before, 0);
    for (std::uint64_t Counters::*field :
         {&Counters::global_load_requests, &Counters::global_load_sectors,
          &Counters::global_store_requests, &Counters::global_store_sectors,
          &Counters::dram_load_sectors, &Counters::dram_store_sectors, &Counters::shared_wavefronts,
          &Counters::shared_atomics, &Counters::global_atomics, &Counters::hottest_atomic,
          &Counters::local_requests, &Counters::local_sectors, &Counters::code_instructions,
          &Counters::constant_repeats, &Counters::span_clocks, &Counters::blocks}) {
      LaunchReport more = base;
      more.counters.*field += 1'000'000;
      EXPECT_GT(estimate(more, {}, gpu).ns, before) << gpu.name;
    }
    for (std::size_t k = 0; k < cpu::kInstructionClasses; ++k) {
      LaunchReport more = base;
      more.counters.classes[k] += 1'000'000;
      EXPECT_GT(estimate(more, {}, gpu).ns, before) << gpu.name << " class " << k;
    }
    for (const auto part : cpu::kPathParts) {
      LaunchReport more = base;
      more.counters.critical.*part += 1000;
      EXPECT_GE(estimate(more, {}, gpu).ns, before) << gpu.name;
      if (part == &CriticalPath::instructions) continue;  // priced by their chains
      EXPECT_GT(estimate(more, {}, gpu).ns, before) << gpu.name;
    }
  }
}

TEST(GpuModel, SpillsAndRegistersCost) {
  LaunchReport launch;
  launch.grid = {1000, 1, 1};
  launch.block = {256, 1, 1};
  launch.counters.blocks = 1000;
  launch.counters.instructions = launch.counters.critical.instructions = 100'000;
  launch.counters.critical.clocks = 10'000;
  launch.counters.typical_runs = 500;
  for (const auto& gpu : gpu_table()) {
    const AssembledKernel lean{32, 0, 1}, wide{255, 0, 1}, spilled{255, 400, 1};
    EXPECT_GT(estimate(launch, wide, gpu).ns, 1.5 * estimate(launch, lean, gpu).ns) << gpu.name;
    EXPECT_GT(estimate(launch, spilled, gpu).ns, estimate(launch, wide, gpu).ns) << gpu.name;
    EXPECT_EQ(estimate(launch, wide, gpu).occupancy_limiter, "registers") << gpu.name;
  }
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
    return estimate(launch, {}, h200).ns;
  };
  EXPECT_GT(ns(16, 34), ns(3, 6) * 1.01);
  EXPECT_LT(ns(16, 34), ns(3, 6) * 1.05);
  EXPECT_LT(ns(16, 2), ns(16, 34) * 0.99);
}

// Measured on an H200: the same work by blocks with more warps that end at once differs by less
// than 1 %, in both directions.
TEST(GpuModel, WarpsWithoutWorkTakeNoTime) {
  LaunchReport launch;
  launch.grid = {1, 1, 1};
  launch.counters.blocks = 1;
  launch.counters.global_load_requests = 360;
  launch.counters.critical.dram_requests = 18;
  const auto ns = [&](std::uint32_t threads) {
    launch.block = {threads, 1, 1};
    return estimate(launch, {}, *find_gpu("H200 SXM")).ns;
  };
  EXPECT_EQ(ns(32), ns(256));
}

TEST(GpuModel, RequestsStandInLineHoweverLongThePathIs) {
  LaunchReport launch;
  launch.grid = {4, 1, 1};
  launch.block = {256, 1, 1};
  launch.counters.blocks = 4;
  launch.counters.global_load_requests = 400;
  launch.counters.critical.dram_requests = 100;
  for (const auto& gpu : gpu_table()) {
    launch.counters.global_load_sectors = 400;
    const double before = estimate(launch, {}, gpu).ns;
    launch.counters.global_load_sectors = 12'800;
    EXPECT_GT(estimate(launch, {}, gpu).ns, before) << gpu.name;
  }
}

TEST(GpuModel, NeverFallsWhenAPathGrowsBehindWhichUnitsWork) {
  LaunchReport launch;
  launch.grid = {1000, 1, 1};
  launch.block = {256, 1, 1};
  Counters& c = launch.counters;
  c.blocks = 1000;
  c.dram_load_sectors = c.global_load_sectors = c.shared_wavefronts = c.hottest_atomic = 100'000;
  c.global_load_requests = 25'000;
  c.classes[0] = 1'000'000;
  for (const auto& gpu : gpu_table()) {
    double before = 0;
    for (c.critical.dram_requests = 0; c.critical.dram_requests < 200; ++c.critical.dram_requests) {
      const double ns = estimate(launch, {}, gpu).ns;
      EXPECT_GT(ns, before) << gpu.name;
      before = ns;
    }
  }
}

// ---- blocks of unlike length ----

const std::string kLongBody =
    "{ float a = x[t]; for (int k = 0; k < 1000; k++) a = a * x[0] + 1; y[i] = a; }";
const std::string kShortBody = "if (i < n) y[i] = x[i] * 2;";

std::uint64_t span_clocks(const std::string& source, std::uint32_t blocks, std::uint32_t resident) {
  Emulation emulation(source, {"k0"});
  const auto x = emulation.input<float>("x", std::vector<float>(16384, 1.0f));
  emulation.launch(0, {blocks, 1, 1}, {32, 1, 1}, {x, emulation.output<float>("y", 16384), 16384},
                   0, resident);
  return emulation.run().runs.at(0).at(0).counters.span_clocks;
}

TEST(GpuModel, BlocksBeginWhereOthersHaveEnded) {
  const std::string one_long = kernel("if (blockIdx.x == 0) " + kLongBody + " else " + kShortBody);
  EXPECT_EQ(span_clocks(one_long, 100, 0), 0u) << "not known how many are resident";
  const double chain = static_cast<double>(span_clocks(one_long, 1, 2));
  const double beside = static_cast<double>(span_clocks(one_long, 20, 2));
  EXPECT_NEAR(beside, chain, 0.01 * chain) << "nineteen short ones in the other place";
  const double all_long = static_cast<double>(span_clocks(kernel(kLongBody), 5, 2));
  EXPECT_NEAR(all_long, 3 * chain, 0.1 * chain);
}

TEST(GpuModel, OneLongBlockIsNotPaidForInEveryWave) {
  const double chain = nano_ns(kernel(kLongBody), {{1, 32}}),
               rest = nano_ns(kernel(kShortBody), {{512, 32}});
  for (const char* which : {"0", "511"}) {
    const double both = nano_ns(kernel("if (blockIdx.x == " + std::string(which) + ") " +
                                       kLongBody + " else " + kShortBody),
                                {{512, 32}});
    EXPECT_GT(both, chain) << which;
    EXPECT_LT(both, chain + rest) << which;
  }
}

// Memory and units are as busy as before, and the launch as long.
TEST(GpuModel, ALongBlockAmongOthersHidesNothing) {
  LaunchReport launch;
  launch.grid = {110'000, 1, 1};
  launch.block = {256, 1, 1};
  Counters& c = launch.counters;
  c.blocks = 110'000;  // at least a hundred waves
  c.dram_load_sectors = c.global_load_sectors = c.shared_wavefronts = 100'000;
  for (const auto& gpu : gpu_table()) {
    c.critical = {};
    c.critical.clocks = 1000;
    c.span_clocks = 100'000;
    const double before = estimate(launch, {}, gpu).ns;
    c.critical.clocks = 20'000;
    EXPECT_GE(estimate(launch, {}, gpu).ns, before) << gpu.name;
  }
}

// ---- what instructions cost ----

std::string chain_of(const std::string& step) {
  return kernel("if (i < n) { double a = x[i], b = a + n; for (int k = 0; k < 64; k++) { " + step +
                " } y[i] = (float)a; }");
}

TEST(GpuModel, DivisionsAndRootsOfDoublesAreSubroutines) {
  const double sums = nano_ns(chain_of("a = fma(a, b, 1.0);"), {{128, 128}});
  for (const char* step :
       {"a = b / a;", "a = 1 / (a + b);", "a = sqrt(a + b);", "a = rsqrt(a + b);"})
    EXPECT_GT(nano_ns(chain_of(step), {{128, 128}}), 6 * sums) << step;
  const double alone = nano_ns(chain_of("a = fma(a, b, 1.0);"), {{1, 32}});
  EXPECT_GT(nano_ns(chain_of("a = b / a;"), {{1, 32}}), 4 * alone);
}

TEST(GpuModel, ConversionsOfDoublesAreAsSlowAsTheirArithmetic) {
  const auto sum = [](const std::string& one) {
    return nano_ns(kernel("float s = 0; for (int k = 0; k < 64; k++) s += " + one + "; y[i] = s;"),
                   {{128, 128}});
  };
  const double floats = sum("(x[(i + k) % n] + 0.1f)");
  const double doubles = sum("(float)(x[(i + k) % n] + 0.1)");  // three of f64
  const GpuDescription& nano = *find_gpu("Jetson Orin Nano");
  const double clocks = 3.0 * 64 * 128 * 4 * 16;
  EXPECT_GT(doubles, floats);
  EXPECT_GT(doubles, 0.9 * clocks / nano.sms / nano.clock_ghz);
}

TEST(GpuModel, FencesBetweenBlocksWaitForL2) {
  const auto stores = [](const std::string& fence) {
    return nano_ns(
        kernel("for (int k = 0; k < 64; k++) { ((volatile float*)y)[i] = k; " + fence + " }"),
        {{4, 32}});
  };
  const GpuDescription& nano = *find_gpu("Jetson Orin Nano");
  const double waits = 64 * nano.l2_latency / nano.clock_ghz;
  EXPECT_GT(stores("__threadfence();"), stores("") + 0.9 * waits);
  EXPECT_GT(stores("asm volatile(\"fence.acq_rel.sys;\");"), stores("") + 0.9 * waits);
  EXPECT_LT(stores("__threadfence_block();"), stores("") + 0.2 * waits);
}

TEST(GpuModel, ConstantMemoryIsReadAddressByAddress) {
  const auto sum = [](const std::string& index) {
    return nano_ns("__constant__ float table[64] = {1, 2, 3};\n" +
                       kernel("float s = 0; for (int k = 0; k < 64; k++) s += table[" + index +
                              "]; y[i] = s;"),
                   {{128, 128}});
  };
  const double same = sum("(k + n) % 64"), pairs = sum("(t / 16 + k) % 64"),
               all = sum("(t + k) % 64");
  EXPECT_GT(pairs, same);
  EXPECT_GT(all, 5 * same);
}

// ---- what a GPU punishes is not rewarded ----

constexpr const char* kSerialSum =
    "if (i == 0) { float s = 0; for (int k = 0; k < n; k++) s += x[k]; y[0] = s; }";

TEST(GpuModel, ADecoyHidesNothing) {
  const double plain = nano_ns(kernel(kSerialSum), {{1, 32}});
  const std::string other =
      R"(else {
  __shared__ float s[32];
  s[t] = 0;
  __syncwarp();
  for (int k = 0; k < n * 3 / 8; k++) atomicAdd(&s[t], 0.0f);
  y[1 + t] = s[t];
})";
  const double decoyed = nano_ns(
      kernel("if (blockIdx.x == 0) { if (t == 0) { float s = 0; for (int k = 0; k < n; k++) s += "
             "x[k]; y[0] = s; } } " +
             other),
      {{2, 32}});
  EXPECT_GT(decoyed, plain / 1.05);
}

TEST(GpuModel, WarpsThatTakeTurnsAreNotParallel) {
  const double one = nano_ns(
      kernel("if (t == 0) { float s = 0; for (int k = 0; k < 4096; k++) s += x[k]; y[0] = s; }"),
      {{1, 256}});
  const double turns = nano_ns(kernel(R"(__shared__ float s;
if (t == 0) s = 0;
__syncthreads();
for (int w = 0; w < 8; w++) {
  if (t == w * 32)
    for (int k = w * 512; k < w * 512 + 512; k++) s += x[k];
  __syncthreads();
}
if (t == 0) y[0] = s;)"),
                               {{1, 256}});
  EXPECT_GT(turns, one / 1.2);
}

TEST(GpuModel, AMemcpyByOneThreadCostsItsLoads) {
  const double together = nano_ns(kernel("if (i < n) y[i] = x[i];"), {{64, 256}});
  const double serial = nano_ns(kernel("if (i == 0) memcpy(y, x, n * 4);"), {{1, 1}});
  EXPECT_GT(serial, 20 * together);
  const double fixed = nano_ns(kernel("if (i == 0) memcpy(y, x, 16384);"), {{1, 1}});
  const double block =
      nano_ns(kernel("for (int k = t; k < 4096; k += 256) y[k] = x[k];"), {{1, 256}});
  EXPECT_GT(fixed, 5 * block);
}

TEST(GpuModel, LocalArraysAreMemory) {
  const std::string sum = "float s = 0; for (int k = 0; k < 64; k++) s += ";
  const double from_inputs = nano_ns(kernel(sum + "x[(k * 37 + i) % n]; y[i] = s;"), {{16, 256}});
  const double from_copy = nano_ns(
      kernel("float own[2048]; for (int k = 0; k < 2048; k++) own[k] = x[(k * 37 + i) % n]; " +
             sum + "own[(k * n + i) % 2048]; y[i] = s;"),
      {{16, 256}});
  EXPECT_GT(from_copy, 4 * from_inputs);
}

// A product of matrices by a block of 48 rows, all products in one basic block of thousands.
TEST(GpuModel, StraightLineCodeIsNotFree) {
  const std::string index = "const float *a = x, *b = x + 4096; ";
  const double loop =
      nano_ns(kernel(index + "for (int c = 0; c < 48; ++c) { float s = 0; for (int e = 0; e "
                             "< 64; ++e) s += a[i * 64 + e] * b[e * 48 + c]; y[i * 48 + c] "
                             "= s; }"),
              {{2, 32}});
  const double straight = nano_ns(
      kernel(
          index +
          "float row[64], right[3072], sum[48]; memcpy(row, a + i * 64, sizeof row); "
          "memcpy(right, b, sizeof right); memset(sum, 0, sizeof sum);\n#pragma unroll\nfor (int "
          "e = 0; e < 64; ++e)\n#pragma unroll\nfor (int c = 0; c < 48; ++c) sum[c] = "
          "fmaf(row[e], right[e * 48 + c], sum[c]);\nmemcpy(y + i * 48, sum, sizeof sum);"),
      {{2, 32}});
  EXPECT_GT(straight, loop / 2.5);
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
  EXPECT_EQ(estimate(launch, {}, a100).blocks_per_sm, 8u);
  EXPECT_DOUBLE_EQ(estimate(launch, {}, a100).occupancy, 1.0);
  launch.shared_bytes = 40 << 10;
  EXPECT_EQ(estimate(launch, {}, a100).blocks_per_sm, 4u);
  EXPECT_DOUBLE_EQ(estimate(launch, {}, a100).occupancy, 0.5);
  launch.shared_bytes = 200 << 10;
  EXPECT_EQ(estimate(launch, {}, a100).blocks_per_sm, 0u);
}

}  // namespace
}  // namespace krl::machine
