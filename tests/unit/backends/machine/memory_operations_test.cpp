#include <gtest/gtest.h>

#include <numeric>

#include "tests/unit/backends/machine/emulation.hpp"

namespace krl::machine {
namespace {

// Runs k(const float* x, float* y, int* z, int n) in blocks of 64 threads: x and y of 256 elements,
// x[i] = i, z of 64; n = 256. Returns y.
std::vector<float> run_memory(const std::string& body, std::uint32_t blocks = 1,
                              std::vector<std::int32_t>* z_after = nullptr) {
  Emulation emulation(
      "__global__ void k(const float* x, float* y, int* z, int n) {\n"
      "  int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;\n" +
          body + "\n}",
      {"k"});
  std::vector<float> values(256);
  std::iota(values.begin(), values.end(), 0.0f);
  const auto x = emulation.input<float>("x", values);
  const auto y = emulation.output<float>("y", 256);
  const auto z = emulation.output<std::int32_t>("z", 64);
  emulation.launch(0, {blocks, 1, 1}, {64, 1, 1}, {x, y, z, std::int32_t{256}}, 256);
  const Result result = emulation.run();
  EXPECT_FALSE(result.fault) << result.fault->message << " in line " << result.fault->line
                             << emulation.compile_log();
  if (z_after != nullptr) *z_after = emulation.values<std::int32_t>(z);
  return emulation.values<float>(y);
}

TEST(MemoryOperations, NarrowValuesKeepTheirSign) {
  const auto y = run_memory(
      R"(__shared__ signed char a[64];
__shared__ unsigned char b[64];
__shared__ short c[64];
a[t] = -t;
b[t] = -t;
c[t] = -300 * t;
__syncthreads();
int o = 63 - t;
y[t] = a[o];
y[64 + t] = b[o];
y[128 + t] = c[o];)");
  for (int t = 0; t < 64; ++t) {
    const int o = 63 - t;
    EXPECT_EQ(y[static_cast<std::size_t>(t)], static_cast<float>(-o));
    EXPECT_EQ(y[static_cast<std::size_t>(64 + t)], static_cast<float>((256 - o) % 256));
    EXPECT_EQ(y[static_cast<std::size_t>(128 + t)], static_cast<float>(-300 * o));
  }
}

TEST(MemoryOperations, VectorsOfEveryWidth) {
  const auto y = run_memory(
      "float4 v = ((const float4*)x)[t]; float2 w = ((const float2*)x)[2 * t + 1];"
      "((float4*)y)[63 - t] = make_float4(v.w, w.y, v.y, w.x);");
  for (std::size_t t = 0; t < 64; ++t) {
    const auto first = static_cast<float>(4 * t);
    EXPECT_EQ(y[4 * (63 - t)], first + 3);
    EXPECT_EQ(y[4 * (63 - t) + 1], first + 3);
    EXPECT_EQ(y[4 * (63 - t) + 2], first + 1);
    EXPECT_EQ(y[4 * (63 - t) + 3], first + 2);
  }
}

TEST(MemoryOperations, LocalArraysBelongToTheirThread) {
  const auto y = run_memory(
      R"(volatile float a[8];
for (int k = 0; k < 8; k++) a[(k + t) & 7] = x[t] * k;
float s = 0;
for (int k = 0; k <= (t & 7); k++) s += a[k];
y[i] = s;)",
      4);
  for (int i = 0; i < 256; ++i) {
    const int t = i % 64;
    float sum = 0;
    for (int k = 0; k <= (t & 7); ++k) sum += static_cast<float>(t * ((k - t) & 7));
    EXPECT_EQ(y[static_cast<std::size_t>(i)], sum) << i;
  }
}

TEST(MemoryOperations, PointersOfOneWarpIntoSeveralBuffersAndSpaces) {
  const auto y = run_memory(
      R"(__shared__ float s[64];
float l[4];
s[t] = 1000 + t;
l[(int)x[t & 3]] = 2000;
__syncthreads();
const float* p = t % 3 == 0 ? x + t : t % 3 == 1 ? s + (t ^ 1) : l + (t & 3);
asm("ld.f32 %0, [%1];" : "=f"(y[i]) : "l"(p));)");
  EXPECT_EQ(y[3], 3.0f);
  EXPECT_EQ(y[4], 1005.0f);
  EXPECT_EQ(y[5], 2000.0f);
}

TEST(MemoryOperations, AtomicsOfEveryKind) {
  std::vector<std::int32_t> z;
  const auto y = run_memory(
      R"(atomicAdd(z, 1);
atomicSub(z + 1, 2);
atomicMin(z + 2, -t);
atomicMax((unsigned*)z + 3, t);
atomicAnd(z + 4, t);
atomicOr(z + 5, 1 << (t & 31));
atomicXor(z + 6, 3);
atomicInc((unsigned*)z + 7, 9);
atomicDec((unsigned*)z + 8, 4);
atomicExch(z + 9, 5);
atomicCAS(z + 10, 0, 6);
atomicAdd(y, 0.5f);
atomicAdd((double*)(y + 2), 0.25);
atomicMax((long long*)(z + 12), -5ll);
atomicAdd((unsigned long long*)(z + 14), 1ull << 33);)",
      1, &z);
  EXPECT_EQ(z[0], 64);
  EXPECT_EQ(z[1], -128);
  EXPECT_EQ(z[2], -63);
  EXPECT_EQ(z[3], 63);
  EXPECT_EQ(z[4], 0);
  EXPECT_EQ(z[5], -1);
  EXPECT_EQ(z[6], 0);
  EXPECT_EQ(z[7], 4);
  EXPECT_EQ(z[8], 1);
  EXPECT_EQ(z[9], 5);
  EXPECT_EQ(z[10], 6);
  EXPECT_EQ(z[12], 0);
  EXPECT_EQ(z[15], 128);
  EXPECT_EQ(y[0], 32.0f);
  double sum;
  std::memcpy(&sum, y.data() + 2, sizeof sum);
  EXPECT_EQ(sum, 16.0);
}

constexpr const char* kCopy =
    "extern __shared__ float s[]; unsigned at = (unsigned)__cvta_generic_to_shared(s + 4 * t);"
    "if (t < 16) { asm volatile(\"cp.async.cg.shared.global [%0], [%1], 16;\" :: \"r\"(at), "
    "\"l\"(x + 4 * t)); asm volatile(\"cp.async.commit_group;\"); ";

TEST(MemoryOperations, AsynchronousCopiesArriveWhenWaitedFor) {
  const auto y = run_memory(std::string(kCopy) +
                            "asm volatile(\"cp.async.wait_group 0;\"); } __syncthreads(); y[t] = "
                            "s[63 - t];");
  for (std::size_t t = 0; t < 64; ++t) EXPECT_EQ(y[t], static_cast<float>(63 - t));
}

TEST(MemoryOperations, MbarrierOrdersItsThreads) {
  const auto y = run_memory(
      R"(__shared__ unsigned long long b;
__shared__ float s[64];
unsigned at = (unsigned)__cvta_generic_to_shared(&b);
if (t == 0) asm volatile("mbarrier.init.shared.b64 [%0], 64;" ::"r"(at));
__syncthreads();
for (int r = 0; r < 3; r++) {
  s[t] = x[t] + r;
  unsigned long long state;
  asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(state) : "r"(at));
  int done = 0;
  while (!done)
    asm volatile(
        "{ .reg .pred p; mbarrier.test_wait.shared.b64 p, [%1], %2; selp.s32 %0, 1, 0, p; }"
        : "=r"(done)
        : "r"(at), "l"(state));
  y[t] += s[63 - t];
  __syncthreads();
})");
  for (std::size_t t = 0; t < 64; ++t) EXPECT_EQ(y[t], 3.0f * static_cast<float>(63 - t) + 3);
}

}  // namespace
}  // namespace krl::machine
