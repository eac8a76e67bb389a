#include <gtest/gtest.h>

#include "tests/unit/backends/machine/emulation.hpp"

namespace krl::machine {
namespace {

constexpr std::int32_t kN = 4096;

// Counters of one launch of k(const float* x, float* y, int n) with x of 32 n elements.
Counters count(const char* body, std::uint32_t blocks = 16, std::uint32_t threads = 256,
               std::int32_t n = kN) {
  const std::string source = std::string(
                                 "__global__ void k(const float* x, float* y, int n) {\n"
                                 "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n") +
                             body + "\n}";
  Emulation emulation(source, {"k"});
  EXPECT_EQ(emulation.compile_log(), "");
  const auto x =
      emulation.input<float>("x", std::vector<float>(static_cast<std::size_t>(kN) * 32, 1.0f));
  const auto y = emulation.output<float>("y", static_cast<std::size_t>(kN) * 32);
  emulation.launch(0, {blocks, 1, 1}, {threads, 1, 1}, {x, y, n});
  const Result result = emulation.run();
  EXPECT_FALSE(result.fault) << result.fault->message;
  return result.fault ? Counters{} : result.runs.at(0).at(0).counters;
}

TEST(Counters, CoalescedAccessTouchesFourSectorsARequest) {
  const Counters c = count("y[i] = x[i];");
  EXPECT_EQ(c.blocks, 16u);
  EXPECT_EQ(c.warps, 128u);
  EXPECT_EQ(c.threads, 4096u);
  EXPECT_EQ(c.global_load_requests, 128u);
  EXPECT_EQ(c.global_load_sectors, 512u);
  EXPECT_EQ(c.global_store_requests, 128u);
  EXPECT_EQ(c.global_store_sectors, 512u);
  EXPECT_EQ(c.dram_load_sectors, 512u);
  EXPECT_EQ(c.dram_store_sectors, 512u);
  EXPECT_EQ(c.thread_instructions, 32 * c.instructions);
  EXPECT_EQ(c.vector16_requests, 0u);
}

TEST(Counters, StridedAccessTouchesThirtyTwoSectorsARequest) {
  const Counters c = count("y[i] = x[i * 32];");
  EXPECT_EQ(c.global_load_sectors, 32 * c.global_load_requests);
  EXPECT_EQ(c.dram_load_sectors, 4096u);
  EXPECT_EQ(c.needed_sectors, 4 * c.global_load_requests + c.global_store_sectors);
}

TEST(Counters, OneAddressIsOneSector) {
  const Counters c = count("y[i] = x[0];");
  EXPECT_EQ(c.global_load_sectors, 128u);
  EXPECT_EQ(c.dram_load_sectors, 1u);
  EXPECT_EQ(c.l2_sectors, 15u);  // the first warp of each later block
  EXPECT_EQ(c.needed_sectors, 128u + c.global_store_sectors) << "a broadcast needs no more";
  EXPECT_EQ(c.l1_sectors, 112u);  // the other warps of each block
}

TEST(Counters, VectorsAreOneRequest) {
  const Counters c = count("((float4*)y)[i] = ((const float4*)x)[i];", 4);
  EXPECT_EQ(c.global_load_requests, 32u);
  EXPECT_EQ(c.global_load_sectors, 32u * 16);
  EXPECT_EQ(c.vector16_requests, 64u);
  const Counters d = count("float2 v = ((const float2*)x)[i]; v.x += v.y; ((float2*)y)[i] = v;", 8);
  EXPECT_EQ(d.vector8_requests, 128u);
  EXPECT_EQ(d.global_load_sectors, 64u * 8);
  EXPECT_EQ(c.needed_sectors, 2 * c.global_load_sectors) << "all of loads and stores";
  EXPECT_EQ(d.needed_sectors, 2 * d.global_load_sectors);
}

TEST(Counters, ColumnsOfATileConflictInTheBanksUnlessPadded) {
  const char* tile =
      R"(__shared__ float t[32][%d];
int r = threadIdx.x / 32, c = threadIdx.x %% 32;
t[r][c] = x[i];
__syncthreads();
y[i] = t[c][r];)";
  char body[256];
  std::snprintf(body, sizeof body, tile, 32);
  const Counters plain = count(body, 1, 1024);
  EXPECT_EQ(plain.shared_store_requests, 32u);
  EXPECT_EQ(plain.shared_load_requests, 32u);
  EXPECT_EQ(plain.shared_wavefronts, 32u + 32 * 32);
  EXPECT_EQ(plain.bank_conflicts, 32u * 31);
  EXPECT_EQ(plain.barriers, 32u);
  std::snprintf(body, sizeof body, tile, 33);
  const Counters padded = count(body, 1, 1024);
  EXPECT_EQ(padded.shared_wavefronts, 64u);
  EXPECT_EQ(padded.bank_conflicts, 0u);
}

TEST(Counters, WideSharedAccessesNeedMoreWavefrontsButNoConflicts) {
  const Counters c = count(
      R"(__shared__ float4 t[32];
t[threadIdx.x] = make_float4(i, 1, 2, 3);
__syncwarp();
y[i] = t[31 - threadIdx.x].x;)",
      1, 32);
  EXPECT_EQ(c.shared_store_requests, 1u);
  EXPECT_EQ(c.bank_conflicts, 3u);  // of the scalar load with a stride of 16 bytes
  EXPECT_EQ(c.shared_wavefronts, 4u + 4);
  EXPECT_EQ(c.warp_barriers, 1u);
}

// Where the assembler put its spills nobody says: they are priced by the loop, whatever stands
// around.
TEST(Counters, TypicalRunsAreThoseOfTheLoop) {
  const std::string loop =
      "float v = x[i]; _Pragma(\"unroll 1\") for (int k = 0; k < 1000; k++) v = v * v + x[k];";
  std::string straight;
  for (int k = 0; k < 100; ++k) straight += " v = v * v + x[i + " + std::to_string(k) + "];";
  const Counters small = count((loop + " y[i] = v;").c_str());
  const Counters padded = count((loop + straight + " y[i] = v;").c_str());
  EXPECT_EQ(count("y[i] = x[i];").typical_runs, 128u);
  EXPECT_GT(small.typical_runs, 990u * 128);
  EXPECT_GT(padded.typical_runs, 900u * 128);
}

TEST(Counters, DivergentBranchesLoseLanes) {
  const Counters half = count(
      R"(if (threadIdx.x % 2) {
  float v = x[i];
  for (int k = 0; k < 20; k++) v = v * v + 1;
  y[i] = v;
})");
  EXPECT_LT(half.thread_instructions, 32 * half.instructions * 7 / 10);
  EXPECT_GT(half.thread_instructions, 32 * half.instructions * 5 / 10);
  EXPECT_EQ(half.global_load_requests, 128u);
  EXPECT_EQ(half.global_load_sectors, 512u);
}

TEST(Counters, WarpOperationsAndAtomicsAreCountedPerWarp) {
  const Counters c = count(
      R"(float v = x[i];
for (int d = 16; d; d /= 2) v += __shfl_down_sync(~0u, v, d);
if (__any_sync(~0u, v > 0) && threadIdx.x % 32 == 0) atomicAdd(y, v);)");
  EXPECT_EQ(c.shuffles, 128u * 5);
  EXPECT_EQ(c.votes, 128u);
  EXPECT_EQ(c.global_atomics, 128u);
  EXPECT_EQ(c.atomic_passes, 128u);
  EXPECT_EQ(c.hottest_atomic, 128u);
  const Counters all = count("atomicAdd(y + i % 2, x[i]);");
  EXPECT_EQ(all.global_atomics, 128u);
  EXPECT_EQ(all.atomic_passes, 128u * 16);
  EXPECT_EQ(all.hottest_atomic, 2048u);
  EXPECT_EQ(all.dram_store_sectors, 1u);
  EXPECT_EQ(all.dram_load_sectors, 512u + 1);
  const Counters each = count("atomicAdd(y + i, x[i]);");
  EXPECT_EQ(each.dram_store_sectors, 512u);
  EXPECT_EQ(each.dram_load_sectors, 2 * 512u) << "it reads what it adds to";
}

TEST(Counters, CriticalPathIsThatOfTheSlowestWarp) {
  const Counters c = count(
      "float s = 0; for (int k = 0; k < (i < 32 ? 50 : 2); k++) s += x[k * 2048 + i]; y[i] = s;", 2,
      64);
  // The compiler unrolls the loop: loads whose addresses are known are waited for together.
  EXPECT_GE(c.critical.dram_requests, 12u);
  EXPECT_LE(c.critical.dram_requests, 25u);
}

TEST(Counters, LoadsBehindStoresAndBarriersAreWaitedForOneByOne) {
  // Loads of sectors that nobody touched, with and without stores between them.
  const CriticalPath between =
      count("for (int k = 0; k < 4; k++) y[i] = x[k * 2048 + i];", 2, 64).critical;
  EXPECT_EQ(between.dram_requests, 4u);
  const CriticalPath after =
      count("float s = 0; for (int k = 0; k < 4; k++) s += x[k * 2048 + i]; y[i] = s;", 2, 64)
          .critical;
  EXPECT_EQ(after.dram_requests, 1u);
  const CriticalPath barriers =
      count("float s = x[i]; __syncthreads(); y[i] = s + x[2048 + i];", 2, 64).critical;
  EXPECT_EQ(barriers.barriers, 1u);
}

TEST(Counters, LoadsOfShortBranchesAreWaitedForTogether) {
  const CriticalPath guarded = count(
                                   R"(if (i >= n) return;
float s = x[i];
if (i > 0) s += x[2048 + i];
if (i < n - 1) s += x[4096 + i];
y[i] = s;)",
                                   2, 64)
                                   .critical;
  EXPECT_EQ(guarded.dram_requests, 1u);
  // What is loaded where the ways of a long branch meet is not moved before it.
  const CriticalPath behind = count(
                                  R"(float s = i;
if (n > 0) {
  s = x[i];
  for (int k = 0; k < n; k++) s = s * s + 1;
}
y[i] = s + x[2048 + i];)",
                                  2, 64)
                                  .critical;
  EXPECT_EQ(behind.dram_requests, 2u);
}

TEST(Counters, AreTheSameInEveryRun) {
  const char* body =
      R"(__shared__ float s[256];
s[threadIdx.x] = x[i];
__syncthreads();
y[i] = s[255 - threadIdx.x];)";
  EXPECT_EQ(count(body), count(body));
}

}  // namespace
}  // namespace krl::machine
