#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <set>

#include "tests/unit/backends/machine/emulation.hpp"

namespace krl::machine {
namespace {

// What `body` leaves in y[64] of a kernel (const int* x, T* y), x[i] = i, run by one block of
// `threads` threads.
template <class T>
std::vector<T> run(const std::string& type, const std::string& body, std::uint32_t threads = 64,
                   const std::string& head = "") {
  Emulation emulation(head + "\n__global__ void k(const int* x, " + type +
                          "* y) { int t = threadIdx.x, lane = t % 32;\n" + body + "\n}",
                      {"k"});
  EXPECT_EQ(emulation.compile_log(), "");
  std::vector<int> indices(64);
  std::iota(indices.begin(), indices.end(), 0);
  const auto x = emulation.input<int>("x", indices);
  const auto y = emulation.output<T>("y", 64);
  emulation.launch(0, {1, 1, 1}, {threads, 1, 1}, {x, y}, 256);
  const Result result = emulation.run();
  EXPECT_FALSE(result.fault) << result.fault->message << " in line " << result.fault->line;
  return emulation.values<T>(y);
}

// The values of expressions, each computed on the device by one thread.
template <class T>
void expect_values(const std::string& type, const std::vector<std::pair<std::string, T>>& cases,
                   const std::string& head = "") {
  std::string body;
  for (std::size_t i = 0; i < cases.size(); ++i)
    body += "y[" + std::to_string(i) + "] = " + cases[i].first + ";\n";
  const auto y = run<T>(type, body, 1, head);
  for (std::size_t i = 0; i < cases.size(); ++i) EXPECT_EQ(y[i], cases[i].second) << cases[i].first;
}

TEST(Semantics, Integers) {
  expect_values<int>("int",
                     {{"__popc(0xf0f0)", 8},
                      {"__popcll(~0ull)", 64},
                      {"__clz(0)", 32},
                      {"__clz(1)", 31},
                      {"__clzll(1)", 63},
                      {"__ffs(0)", 0},
                      {"__ffs(8)", 4},
                      {"__ffsll(1ll << 40)", 41},
                      {"(int)__brev(1u)", std::numeric_limits<int>::min()},
                      {"(int)__byte_perm(0x33221100, 0x77665544, 0x7531)", 0x77553311},
                      {"__mulhi(1 << 30, 8)", 2},
                      {"(int)__umulhi(1u << 31, 6u)", 3},
                      {"__mul24(-3, 5)", -15},
                      {"(int)__umul24(0x1000002u, 3u)", 6},
                      {"(int)__sad(-5, 7, 1)", 13},
                      {"__hadd(-3, -4)", -4},
                      {"__rhadd(3, 4)", 4},
                      {"(int)__funnelshift_l(0x80000000u, 1u, 1)", 3},
                      {"(int)__funnelshift_r(0x80000000u, 1u, 31)", 3},
                      {"__dp4a(0x01ff0203, 0x04050607, 10)", 10 + 4 - 5 + 12 + 21},
                      {"(int)__dp4a(0x01ff0203u, 0x04050607u, 10u)", 10 + 4 + 255 * 5 + 12 + 21},
                      {"min(-1, 1)", -1},
                      {"(int)min(-1, 1u)", 1},
                      {"(int)max(3u, 4u)", 4},
                      {"abs(-7)", 7},
                      {"(int)__vadd4(0x01020304, 0xff010101)", 0x00030405},
                      {"__float_as_int(1.0f)", 0x3f800000},
                      {"__double2hiint(1.0)", 0x3ff00000},
                      {"__float2int_rn(2.5f)", 2},
                      {"__float2int_rz(-2.9f)", -2},
                      {"__float2int_ru(2.1f)", 3},
                      {"__float2int_rd(-2.1f)", -3},
                      {"__float2int_rn(1e20f)", std::numeric_limits<int>::max()},
                      {"__float2int_rn(NAN)", 0},
                      {"warpSize", 32},
                      {"CHAR_BIT", 8}});
}

TEST(Semantics, Floats) {
  const float third = 1.0f / 3.0f;
  expect_values<float>("float", {{"__int_as_float(0x40000000)", 2.0f},
                                 {"fmaxf(NAN, 1.0f)", 1.0f},
                                 {"max(1.0f, 2.0f)", 2.0f},
                                 {"min(NAN, 3.0f)", 3.0f},
                                 {"rsqrtf(4.0f)", 0.5f},
                                 {"__fdividef(1.0f, 4.0f)", 0.25f},
                                 {"__saturatef(1.5f)", 1.0f},
                                 {"__saturatef(NAN)", 0.0f},
                                 {"__frcp_rn(3.0f)", third},
                                 {"sqrt(2.0f)", std::sqrt(2.0f)},
                                 {"__logf(3.0f)", std::log(3.0f)},
                                 {"tanhf(0.3f)", 0x1.2a4ddcp-2f},
                                 {"pow(3.0f, 2)", 9.0f},
                                 {"floorf(-1.5f)", -2.0f},
                                 {"rintf(2.5f)", 2.0f},
                                 {"copysignf(3.0f, -0.0f)", -3.0f},
                                 {"(float)(1.0f / 0.0f == INFINITY)", 1.0f},
                                 {"(float)isnan(NAN)", 1.0f},
                                 {"sinpif(0.5f)", 1.0f},
                                 {"fminf(FLT_MAX, INFINITY)", std::numeric_limits<float>::max()}});
}

// ex2.approx errs by up to 2^-22.5 of its result; then that is rounded.
TEST(Semantics, PowersAreWithinTheBoundOfTheInstruction) {
  const std::pair<const char*, double> cases[] = {{"expf(1.0f)", std::exp(1.0)},
                                                  {"__expf(-0.5f)", std::exp(-0.5)},
                                                  {"powf(2.0f, 0.5f)", std::sqrt(2.0)},
                                                  {"exp10f(2.0f)", 100.0}};
  for (const auto& [expression, value] : cases) {
    const auto y = run<float>("float", "y[0] = " + std::string(expression) + ";", 1);
    EXPECT_NEAR(y[0], value, 0x1p-22 * value) << expression;
  }
}

// nvcc contracts a * b + c; 1 + 2^-12 squared minus 1 tells one rounding from two. __fmul_rn is
// never contracted.
TEST(Semantics, ProductsAndSumsAreFused) {
  const float a = 1.0f + 0x1p-12f, rest = 0x1p-11f + 0x1p-24f;
  const auto y = run<float>("float",
                            R"(float a = 1.0f + x[1] * 0x1p-12f, b = 1.0f + x[2] * 0x1p-13f;
y[0] = a * a - 1.0f;
y[1] = __fmul_rn(a, b) - 1.0f;
y[2] = fmaf(a, a, -1.0f);)",
                            1);
  EXPECT_EQ(y[0], rest);
  EXPECT_EQ(y[1], a * a - 1.0f);
  EXPECT_EQ(y[2], rest);
}

TEST(Semantics, Shuffles) {
  const auto down = run<int>("int", "y[t] = __shfl_down_sync(~0u, x[t], 5);");
  const auto up = run<int>("int", "y[t] = __shfl_up_sync(~0u, x[t], 3, 8);");
  const auto across = run<int>("int", "y[t] = __shfl_xor_sync(~0u, x[t], 9);");
  const auto pick = run<int>("int", "y[t] = __shfl_sync(~0u, x[t], 7, 16);");
  const auto wide = run<double>("double", "y[t] = __shfl_down_sync(~0u, x[t] + 0.25, 1);");
  for (int t = 0; t < 64; ++t) {
    const auto i = static_cast<std::size_t>(t);
    EXPECT_EQ(down[i], t % 32 + 5 < 32 ? t + 5 : t);
    EXPECT_EQ(up[i], t % 8 >= 3 ? t - 3 : t);
    EXPECT_EQ(across[i], t ^ 9);
    EXPECT_EQ(pick[i], t / 16 * 16 + 7);
    EXPECT_EQ(wide[i], (t % 32 == 31 ? t : t + 1) + 0.25);
  }
}

TEST(Semantics, Votes) {
  const auto y = run<unsigned>(
      "unsigned",
      R"(unsigned b = __ballot_sync(~0u, lane % 3 == 0), m = __match_any_sync(~0u, lane / 8);
int all;
unsigned a = __match_all_sync(~0u, 5, &all);
int any = __any_sync(~0u, t == 40), every = __all_sync(~0u, t < 40);
if (t == 33) {
  y[0] = b;
  y[1] = m;
  y[2] = a;
  y[3] = all;
  y[4] = any;
  y[5] = every;
}
if (t == 1) {
  y[6] = any;
  y[7] = every;
}
if (t < 20) {
  unsigned k = __activemask();
  if (t == 3) y[8] = k;
})");
  unsigned thirds = 0;
  for (int i = 0; i < 32; i += 3) thirds |= 1u << i;
  EXPECT_EQ(std::vector<unsigned>(y.begin(), y.begin() + 9),
            (std::vector<unsigned>{thirds, 0xff, ~0u, 1, 1, 0, 0, 1, 0xfffff}));
}

TEST(Semantics, WarpReductions) {
  const auto y = run<int>("int",
                          R"(int v = t % 2 ? -lane : lane;
int s = __reduce_add_sync(~0u, v), lo = __reduce_min_sync(~0u, v),
    hi = __reduce_max_sync(~0u, v);
unsigned u = __reduce_max_sync(~0u, (unsigned)v), o = __reduce_or_sync(~0u, 1u << lane),
         a = __reduce_and_sync(~0u, ~(1u << lane)),
         e = __reduce_xor_sync(~0u, (unsigned)lane);
if (t == 0) {
  y[0] = s;
  y[1] = lo;
  y[2] = hi;
  y[3] = u;
  y[4] = o;
  y[5] = a;
  y[6] = e;
})");
  EXPECT_EQ(std::vector<int>(y.begin(), y.begin() + 7),
            (std::vector<int>{-16, -31, 30, -1, -1, 0, 0}));
}

TEST(Semantics, BarriersWithPredicates) {
  const auto y = run<int>("int",
                          R"(int c = __syncthreads_count(t % 4 == 0), a = __syncthreads_and(t < 64),
    o = __syncthreads_or(t == 99);
if (t == 9) {
  y[0] = c;
  y[1] = a;
  y[2] = o;
})");
  EXPECT_EQ(y[0], 16);
  EXPECT_EQ(y[1], 1);
  EXPECT_EQ(y[2], 0);
}

TEST(Semantics, Atomics) {
  const auto y = run<int>("int",
                          R"(if (t == 0) {
  y[2] = 100;
  y[4] = ~0;
  y[6] = 7;
  y[7] = 3;
}
__syncthreads();
atomicAdd(&y[0], x[t]);
atomicSub(&y[1], 1);
atomicMin(&y[2], 50 - t);
atomicMax_block(&y[3], t);
atomicAnd(&y[4], ~(1 << lane));
atomicOr_system(&y[5], 1 << lane);
if (t == 0) {
  y[20] = atomicCAS(&y[6], 7, 9);
  y[21] = atomicCAS(&y[6], 7, 11);
  y[22] = atomicExch(&y[7], 8);
  y[23] = atomicInc((unsigned*)&y[8], 1);
  y[24] = atomicInc((unsigned*)&y[8], 1);
  y[25] = atomicDec((unsigned*)&y[9], 5);
}
atomicXor(&y[10], t);
atomicAdd((float*)&y[11], 0.5f);
atomicAdd((unsigned long long*)&y[12], 1ull << 32);
atomicAdd((double*)&y[14], 0.25);)");
  EXPECT_EQ(y[0], 2016);
  EXPECT_EQ(y[1], -64);
  EXPECT_EQ(y[2], -13);
  EXPECT_EQ(y[3], 63);
  EXPECT_EQ(y[4], 0);
  EXPECT_EQ(y[5], -1);
  EXPECT_EQ(y[6], 9);
  EXPECT_EQ(y[20], 7);
  EXPECT_EQ(y[21], 9);
  EXPECT_EQ(y[22], 3);
  EXPECT_EQ(y[7], 8);
  EXPECT_EQ(y[23], 0);
  EXPECT_EQ(y[24], 1);
  EXPECT_EQ(y[8], 0);
  EXPECT_EQ(y[25], 0);
  EXPECT_EQ(y[9], 5);
  EXPECT_EQ(y[10], 0);
  float half_sum;
  std::memcpy(&half_sum, &y[11], sizeof half_sum);
  EXPECT_EQ(half_sum, 32.0f);
  EXPECT_EQ(y[13], 64);
  double quarter_sum;
  std::memcpy(&quarter_sum, &y[14], sizeof quarter_sum);
  EXPECT_EQ(quarter_sum, 16.0);
}

TEST(Semantics, VectorsKeepLayoutAndAlignment) {
  expect_values<int>("int", {{"sizeof(float3)", 12},
                             {"sizeof(float4)", 16},
                             {"alignof(float4)", 16},
                             {"alignof(float2)", 8},
                             {"alignof(uchar4)", 4},
                             {"alignof(double2)", 16},
                             {"alignof(int3)", 4},
                             {"sizeof(dim3)", 12},
                             {"make_int4(1, 2, 3, 4).z", 3},
                             {"dim3(5).y", 1}});
  const auto y = run<float>(
      "float",
      "if (t < 16) { float4 v = make_float4(t, 1, 2, 3); v.w += v.x; ((float4*)y)[t] = v; }");
  EXPECT_EQ(y[60], 15.0f);
  EXPECT_EQ(y[63], 18.0f);
}

TEST(Semantics, HalfRoundsAsTheStandardSays) {
  const std::string head = "#include <cuda_fp16.h>\n#define H(x) __half_as_ushort(x)";
  expect_values<int>(
      "int",
      {{"H(__float2half(1.0f))", 0x3c00},
       {"H(__float2half(65519.0f))", 0x7bff},
       {"H(__float2half(65520.0f))", 0x7c00},
       {"H(__float2half(0x1p-25f))", 0},
       {"H(__float2half(0x1.8p-25f))", 1},
       {"H(__float2half(1.0f + 0x1p-11f))", 0x3c00},
       {"H(__float2half(1.0f + 0x3p-11f))", 0x3c02},
       {"H(__double2half(1.0 + 0x1p-11 + 0x1p-40))", 0x3c01},
       {"H(__hadd(half(1.0f), half(2.0f)))", 0x4200},
       {"H(half(3.0f) / half(2.0f))", 0x3e00},
       {"H(__hfma(half(1.0f + 0x1p-10f), half(1.0f + 0x1p-10f), half(-1.0f)))", 0x1800},
       {"(int)(half(2.0f) > half(1.0f))", 1},
       {"H(hexp(half(0.0f)))", 0x3c00},
       {"(int)__half2float(__high2half(__floats2half2_rn(1.0f, 7.0f)))", 7},
       {"(int)__low2float(__hfma2(half2(2, 2), half2(3, 3), half2(4, 4)))", 10},
       {"__half2int_rz(half(2.75f))", 2},
       {"H(__hmax(half(1.0f), half(3.0f)))", 0x4200},
       {"(int)sizeof(half2)", 4}},
      head);
}

TEST(Semantics, BfloatRoundsAsTheStandardSays) {
  const std::string head = "#include <cuda_bf16.h>\n#define B(x) __bfloat16_as_ushort(x)";
  expect_values<int>("int",
                     {{"B(__float2bfloat16(1.0f))", 0x3f80},
                      {"B(__float2bfloat16(1.0f + 0x1p-8f))", 0x3f80},
                      {"B(__float2bfloat16(1.0f + 0x3p-8f))", 0x3f82},
                      {"B(__float2bfloat16(NAN))", 0x7fff},
                      {"B(__nv_bfloat16(3.0f) * __nv_bfloat16(0.5f))", 0x3fc0},
                      {"(int)__bfloat162float(__nv_bfloat16(7))", 7},
                      {"B(__double2bfloat16(1.0 + 0x1p-8 + 0x1p-40))", 0x3f81}},
                     head);
}

TEST(Semantics, NarrowAtomicsAndShuffles) {
  const auto y = run<unsigned>("unsigned",
                               R"(half2* h = (half2*)y;
atomicAdd(h, half2(1, 2));
half v = __shfl_sync(~0u, half(t), 4);
if (t == 0) y[1] = __half_as_ushort(v);)",
                               64, "#include <cuda_fp16.h>");
  EXPECT_EQ(y[0], 0x58005400u);  // 128 and 64
  EXPECT_EQ(y[1], 0x4400u);      // 4
}

TEST(Semantics, CooperativeGroups) {
  const std::string head =
      R"(#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
namespace cg = cooperative_groups;)";
  const auto y = run<int>("int",
                          R"(auto block = cg::this_thread_block();
auto warp = cg::tiled_partition<32>(block);
auto tile = cg::tiled_partition<8>(warp);
int s = cg::reduce(warp, x[t], cg::plus<int>()),
    g = cg::reduce(tile, x[t], cg::greater<int>()),
    l = cg::reduce(tile, x[t], cg::less<int>()), p = cg::inclusive_scan(tile, 1);
block.sync();
if (t == 43) {
  y[0] = s;
  y[1] = g;
  y[2] = l;
  y[3] = p;
  y[4] = tile.thread_rank();
  y[5] = tile.meta_group_rank();
  y[6] = block.size();
  y[7] = (int)cg::this_grid().thread_rank();
  y[8] = tile.size();
}
if (t % 2) {
  auto c = cg::coalesced_threads();
  int r = c.shfl(t, 2);
  if (t == 7) {
    y[11] = c.size();
    y[12] = c.thread_rank();
    y[13] = r;
  }
})",
                          64, head);
  EXPECT_EQ(std::vector<int>(y.begin(), y.begin() + 9),
            (std::vector<int>{1520, 47, 40, 4, 3, 1, 64, 43, 8}));
  EXPECT_EQ(std::vector<int>(y.begin() + 11, y.begin() + 14), (std::vector<int>{16, 3, 5}));
}

TEST(Semantics, MemoryKindsAndLanguage) {
  const auto y = run<float>("float",
                            R"(extern __shared__ float dynamic[];
__shared__ float fixed[2][32];
__shared__ __align__(16) float4 v4[4];
dynamic[t] = scale(x[t], weights[1]);
fixed[t / 32][lane] = t;
if (t < 4) v4[t] = make_float4(t, t, t, t);
__syncthreads();
auto twice = [&](float v) { return v * 2; };
#pragma unroll
for (int k = 0; k < 2; k++) y[t] += twice(fixed[k][31 - lane]);
y[t] += dynamic[63 - t] + v4[3].y + sum<int, 3>(__ldg(x + 1));
__threadfence();
assert(t >= 0);)",
                            64,
                            R"(__constant__ float weights[2] = {1, 10};
__device__ __forceinline__ float scale(float a, float b) { return a * b; }
template <typename T, int N>
__device__ T sum(T v) {
  T s = 0;
  for (int i = 0; i < N; i++) s += v;
  return s;
})");
  for (int t = 0; t < 64; ++t) {
    const int other = 31 - t % 32;
    EXPECT_EQ(y[static_cast<std::size_t>(t)],
              static_cast<float>(2 * (other + other + 32) + 10 * (63 - t) + 3 + 3))
        << t;
  }
}

// Neither its own value nor that of the lane that takes it: others in each lane and block.
TEST(Semantics, WhatAnInactiveLaneGivesIsGarbage) {
  Emulation emulation(
      "__global__ void k(unsigned* y) { const unsigned t = threadIdx.x;"
      "if (t < 16) y[blockIdx.x * 16 + t] = __shfl_down_sync(0xffff, 1000 + t, 16, 32); }",
      {"k"});
  ASSERT_EQ(emulation.compile_log(), "");
  const auto y = emulation.output<unsigned>("y", 32);
  emulation.launch(0, {2, 1, 1}, {32, 1, 1}, {y});
  ASSERT_FALSE(emulation.run().fault);
  const auto values = emulation.values<unsigned>(y);
  for (const unsigned value : values) EXPECT_TRUE(value < 1000 || value >= 1032) << value;
  const std::vector<unsigned> first(values.begin(), values.begin() + 16),
      second(values.begin() + 16, values.end());
  EXPECT_GE(std::set<unsigned>(first.begin(), first.end()).size(), 4u);
  EXPECT_NE(first, second);
}

// What the blocks of a launch have in common is computed once for each warp.
TEST(Semantics, LaunchesDoNotShareWhatTheirBlocksHaveInCommon) {
  Emulation emulation(
      R"(__global__ void k(int* y, int n, int first) {
  int i = first + blockIdx.x * blockDim.x + threadIdx.x;
  if (i < 512) y[i] = n * 3 + blockDim.x * gridDim.x + threadIdx.x * n;
})",
      {"k"});
  ASSERT_EQ(emulation.compile_log(), "");
  const auto y = emulation.output<int>("y", 512);
  emulation.launch(0, {4, 1, 1}, {64, 1, 1}, {y, std::int32_t{5}, std::int32_t{0}});
  emulation.launch(0, {8, 1, 1}, {32, 1, 1}, {y, std::int32_t{7}, std::int32_t{256}});
  ASSERT_FALSE(emulation.run().fault);
  const auto values = emulation.values<int>(y);
  for (int i = 0; i < 512; ++i) {
    const int n = i < 256 ? 5 : 7, thread = i % (i < 256 ? 64 : 32);
    ASSERT_EQ(values[static_cast<std::size_t>(i)], n * 3 + 256 + thread * n) << i;
  }
}

// Unset, they hold garbage: nothing that the block before has left, others in each lane and block.
TEST(Semantics, RegistersBeginAnewInEachBlock) {
  Emulation emulation(
      "__global__ void k(int* y) { int i = blockIdx.x * blockDim.x + threadIdx.x, a, b, c;"
      "asm volatile(\"{ .reg .u32 r, q, g; .reg .pred p; mov.u32 r, 1; setp.gt.u32 p, %3, 3;"
      // r is written three times, q is read before it is written, g is written by some lanes.
      "@p mov.u32 r, 2; @p mov.u32 g, 100; mov.u32 %0, r; mov.u32 %1, q; mov.u32 q, 10;"
      "mov.u32 %2, g; mov.u32 r, 1000; }\" : \"=&r\"(a), \"=&r\"(b), \"=&r\"(c) : \"r\"(i % 8));"
      "y[i] = a; y[256 + i] = b; y[512 + i] = c; }",
      {"k"});
  ASSERT_EQ(emulation.compile_log(), "");
  const auto y = emulation.output<int>("y", 768);
  emulation.launch(0, {8, 1, 1}, {32, 1, 1}, {y});
  ASSERT_FALSE(emulation.run().fault);
  const auto values = emulation.values<int>(y);
  std::set<std::vector<int>> unset;  // of the blocks
  for (std::size_t block = 0; block < 8; ++block) {
    const auto q = values.begin() + 256 + static_cast<std::ptrdiff_t>(block * 32);
    unset.emplace(q, q + 32);
    EXPECT_GE(std::set<int>(q, q + 32).size(), 4u) << block;
  }
  EXPECT_EQ(unset.size(), 8u);
  for (std::size_t i = 0; i < 256; ++i) {
    const bool is_set = i % 8 > 3;
    EXPECT_EQ(values[i], is_set ? 2 : 1) << i;
    EXPECT_NE(values[256 + i], 10) << i;
    EXPECT_EQ(values[512 + i] == 100, is_set) << i;
  }
}

}  // namespace
}  // namespace krl::machine
