// Kernels that use wgmma rightly, as CUDA C++ with inline PTX is written by hand, and wrongly.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "tests/unit/backends/machine/emulation.hpp"
#include "tests/unit/backends/machine/warpgroup_kernel.hpp"

namespace krl::machine::kernels_with_warpgroups {
namespace {

// The kernel multiplies a by the transposed b, both 64 x 64, which ordinary stores put into shared
// memory with the swizzling of 128 bytes. The line of a fault ends with "// here".
const std::string& preface() {
  static const std::string text =
      "typedef unsigned long long u64;\n"
      "__device__ u64 descriptor(const void* p) { return (u64)__cvta_generic_to_shared(p) >> 4 | "
      "64ull << 32 | 1ull << 62; }\n"
      "__device__ void fence() { " +
      std::string(kFence) + "}\n__device__ void commit() { " + kCommit +
      "}\n__device__ void wait() { " + kWait +
      "}\n__device__ void wait_for_all_but_one() { asm volatile(\"wgmma.wait_group.sync.aligned "
      "1;\" ::: \"memory\"); }\n__device__ void proxy_fence() { " +
      kProxyFence + "}\n__device__ void multiply(float (&r)[32], u64 da, u64 db, int add) { " +
      product("m64n64k16.f32.f16.f16", "f", 32, false, ", 1, 1, 0, 0") +
      "}\n__device__ void multiply_half(float (&r)[32], u64 da, u64 db, int add) { " +
      product("m64n32k16.f32.f16.f16", "f", 16, false, ", 1, 1, 0, 0") +
      "}\n__device__ void multiply_registers(float (&r)[32], unsigned (&f)[4], u64 db, int add) { " +
      product("m64n64k16.f32.f16.f16", "f", 32, true, ", 1, 1, 0") +
      "}\n__device__ int place(int i) { int r = i / 64, c = i % 64; return r * 64 + (c / 8 ^ r % 8) "
      "* 8 + c % 8; }\n"
      "__device__ void store(float* d, const float (&r)[32]) { int t = threadIdx.x; for (int i = 0; "
      "i < 32; i++) d[(t / 32 * 16 + t % 32 / 4 + i % 4 / 2 * 8) * 64 + i / 4 * 8 + t % 4 * 2 + i % "
      "2] = r[i]; }\n"
      "__device__ void wait_for(unsigned mbarrier, int parity) { int done = 0; while (!done) asm "
      "volatile(\"{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.s32 "
      "%0, 1, 0, p; }\" : \"=r\"(done) : \"r\"(mbarrier), \"r\"(parity) : \"memory\"); }\n"
      "__device__ void bulk(void* to, const void* from, unsigned mbarrier) { asm volatile("
      "\"cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 16, "
      "[%2];\" :: \"r\"((unsigned)__cvta_generic_to_shared(to)), \"l\"(from), "
      "\"r\"(mbarrier) : \"memory\"); }\n"
      "__global__ void k(const unsigned short* a, const unsigned short* b, float* d) {\n"
      "__shared__ __align__(1024) unsigned short ta[4096], tb[4096];\nint t = threadIdx.x;\n";
  return text;
}
const char* const kFillUnfenced =
    "for (int i = t; i < 4096; i += blockDim.x) { ta[place(i)] = a[i]; tb[place(i)] = b[i]; }\n";
const char* const kDescriptors =
    "u64 da = descriptor(ta), db = descriptor(tb);\nfloat r[32] = {};\n";
const std::string kFill =
    kFillUnfenced + std::string("proxy_fence(); __syncthreads();\n") + kDescriptors;
const char* const kProducts =
    "for (int i = 0; i < 4; i++) multiply(r, da + i * 2, db + i * 2, 1);\n";

struct WrongProduct {
  const char* name;
  std::string body;
  FaultKind kind = FaultKind::kDataRace;
  const char* message = "";
  std::uint32_t threads = 128;
};

std::uint32_t marked_line(std::string_view source) {
  const auto at = source.find("// here");
  if (at == std::string_view::npos) return 0;
  return static_cast<std::uint32_t>(1 + std::count(source.begin(), source.begin() + at, '\n'));
}

constexpr unsigned kSize = 64;
unsigned short half_of(int small) {  // of integers from -8 to 7
  if (small == 0) return 0;
  int magnitude = std::abs(small), exponent = 0;
  while (magnitude >> (exponent + 1) != 0) ++exponent;
  const int mantissa = (magnitude << 10 >> exponent) & 1023;
  return static_cast<unsigned short>((small < 0 ? 0x8000 : 0) | (exponent + 15) << 10 | mantissa);
}
int a_at(unsigned row, unsigned k) { return static_cast<int>((row * 5 + k * 3) % 11) - 5; }
int b_at(unsigned column, unsigned k) { return static_cast<int>((column * 7 + k) % 13) - 6; }

struct Ran {
  Result result;
  std::vector<float> d;
};
Ran run(const std::string& body, Order order, std::uint32_t threads = 128,
        std::uint32_t rows = kSize) {
  Emulation emulation(preface() + body, {"k"});
  EXPECT_EQ(emulation.compile_log(), "");
  std::vector<unsigned short> a, b;
  for (unsigned i = 0; i < kSize * kSize; ++i) {
    a.push_back(half_of(a_at(i / kSize, i % kSize)));
    b.push_back(half_of(b_at(i / kSize, i % kSize)));
  }
  const auto in_a = emulation.input("a", a), in_b = emulation.input("b", b);
  const auto out = emulation.output<float>("d", rows * kSize);
  emulation.launch(0, {1, 1, 1}, {threads, 1, 1}, {in_a, in_b, out});
  Ran run;
  run.result = emulation.run(order);
  run.d = emulation.values<float>(out);
  return run;
}

constexpr Order kOrders[] = {Order::kForward, Order::kReversed, Order::kShuffled};

void expect_right(const std::string& body, float factor = 1, std::uint32_t threads = 128) {
  for (const Order order : kOrders) {
    const Ran ran = run(body, order, threads);
    ASSERT_FALSE(ran.result.fault) << ran.result.fault->message << ran.result.fault->line;
    for (unsigned i = 0; i < kSize; ++i) {
      for (unsigned j = 0; j < kSize; ++j) {
        int sum = 0;
        for (unsigned k = 0; k < kSize; ++k) sum += a_at(i, k) * b_at(j, k);
        ASSERT_EQ(ran.d[i * kSize + j], factor * static_cast<float>(sum)) << i << " " << j;
      }
    }
  }
}

TEST(Warpgroup, MultipliesTilesOfOrdinaryStores) {
  expect_right(kFill + std::string("fence();\n") + kProducts + "commit(); wait();\nstore(d, r); }");
}

TEST(Warpgroup, CountsProductsAndWhatTheyRead) {
  const Ran ran =
      run(kFill + std::string("fence();\n") + kProducts + "commit(); wait();\nstore(d, r); }",
          Order::kForward);
  ASSERT_FALSE(ran.result.fault) << ran.result.fault->message;
  const Counters& counters = ran.result.runs[0][0].counters;
  EXPECT_EQ(counters.tensor_products[static_cast<std::size_t>(TensorType::kF16)], 64u * 64 * 64);
  // Each of four warps reads its rows of A for four products, and one warp B.
  EXPECT_EQ(counters.shared_load_requests, 4u * (4 + 1));
  EXPECT_EQ(counters.shared_wavefronts - counters.shared_store_requests,
            4u * (64 + 64) * 32 / 128 + counters.bank_conflicts);
}

// The first product is not added to them.
TEST(Warpgroup, AccumulatorsNeedNoFirstValue) {
  const Ran ran = run(kFillUnfenced + std::string(R"(proxy_fence(); __syncthreads();
u64 da = descriptor(ta), db = descriptor(tb);
float r[32];
fence();
for (int i = 0; i < 4; i++) multiply(r, da + i * 2, db + i * 2, i > 0);
commit(); wait();
store(d, r); })"),
                      Order::kForward);
  ASSERT_FALSE(ran.result.fault) << ran.result.fault->message;
  EXPECT_TRUE(ran.result.unset.empty());
  int sum = 0;
  for (unsigned k = 0; k < kSize; ++k) sum += a_at(0, k) * b_at(0, k);
  EXPECT_EQ(ran.d[0], static_cast<float>(sum));
}

TEST(Warpgroup, ProductsOfOneShapeFollowEachOtherInSeveralGroups) {
  expect_right(kFill + std::string("fence();\n") + kProducts +
                   "commit(); wait_for_all_but_one();\n" + kProducts +
                   "commit(); wait_for_all_but_one(); wait();\nfence();\n" + kProducts +
                   "commit(); wait();\nstore(d, r); }",
               3);
}

TEST(Warpgroup, AProxyFenceAfterTheBarrierIsEnough) {
  expect_right(std::string(kFillUnfenced) + "__syncthreads();\nproxy_fence(); __syncthreads();\n" +
               kDescriptors + "fence();\n" + kProducts + "commit(); wait();\nstore(d, r); }");
}

TEST(Warpgroup, ReadsWhatCopiesBroughtWithoutAProxyFence) {
  expect_right(std::string(R"(
for (int i = t; i < 512; i += 128) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" :: "r"((unsigned)__cvta_generic_to_shared(ta + place(i * 8))), "l"(a + i * 8) : "memory");
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" :: "r"((unsigned)__cvta_generic_to_shared(tb + place(i * 8))), "l"(b + i * 8) : "memory");
}
asm volatile("cp.async.wait_all;" ::: "memory"); __syncthreads();
)") + kDescriptors +
               "fence();\n" + kProducts + "commit(); wait();\nstore(d, r); }");
}

// The rows of both tiles, in pieces of 16 bytes, as the swizzling places them.
const char* const kBulkFill = R"(__shared__ u64 arrived;
unsigned mbarrier = (unsigned)__cvta_generic_to_shared(&arrived);
if (t == 0) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :: "r"(mbarrier) : "memory");
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 16384;" :: "r"(mbarrier) : "memory");
}
__syncthreads();
for (int i = t; i < 512; i += 128) {
  bulk(ta + place(i * 8), a + i * 8, mbarrier);
  bulk(tb + place(i * 8), b + i * 8, mbarrier);
}
asm volatile("{ .reg .pred p; again: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], 0; @!p bra again; }" :: "r"(mbarrier) : "memory");
)";

TEST(Warpgroup, ReadsWhatBulkCopiesBroughtWithoutAProxyFence) {
  expect_right(std::string(kBulkFill) + kDescriptors + "fence();\n" + kProducts +
               "commit(); wait();\nstore(d, r); }");
}

// A warp brings slices of 16 columns in a ring of two, without swizzling; the other warpgroup
// multiplies them.
TEST(Warpgroup, MultipliesWhatAnotherWarpgroupBrings) {
  expect_right(R"(__shared__ u64 full[2], empty[2];
unsigned to_full = (unsigned)__cvta_generic_to_shared(full), to_empty = (unsigned)__cvta_generic_to_shared(empty);
if (t < 2) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :: "r"(to_full + t * 8) : "memory");
  asm volatile("mbarrier.init.shared::cta.b64 [%0], 128;" :: "r"(to_empty + t * 8) : "memory");
}
__syncthreads();
if (t >= 128) {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
  for (int s = 0; s < 4 && t < 160; s++) {
    int slot = s % 2;
    wait_for(to_empty + slot * 8, s / 2 % 2 ^ 1);
    if (t == 128) asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 4096;" :: "r"(to_full + slot * 8) : "memory");
    __syncwarp();
    for (int i = t - 128; i < 128; i += 32) {
      int row = i / 2, to = slot * 1024 + i % 2 * 512 + row * 8, from = row * 64 + s * 16 + i % 2 * 8;
      bulk(ta + to, a + from, to_full + slot * 8);
      bulk(tb + to, b + from, to_full + slot * 8);
    }
  }
} else {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
  float r[32] = {};
  for (int s = 0; s < 4; s++) {
    int slot = s % 2;
    u64 layout = 64ull << 16 | 8ull << 32, da = (u64)__cvta_generic_to_shared(ta + slot * 1024) >> 4 | layout;
    u64 db = (u64)__cvta_generic_to_shared(tb + slot * 1024) >> 4 | layout;
    wait_for(to_full + slot * 8, s / 2 % 2);
    fence(); multiply(r, da, db, 1); commit(); wait();
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" :: "r"(to_empty + slot * 8) : "memory");
  }
  store(d, r);
} })",
               1, 256);
}

// Loops and branches make copies of registers.
TEST(Warpgroup, AccumulatorsMayBeCopiedWhileTheyAreUnderWay) {
  expect_right(kFill + std::string(R"(float s[32];
for (int n = 0; n < 2; n++) {
  fence();
  for (int i = 0; i < 4; i++) multiply(r, da + i * 2, db + i * 2, n + i > 0);
  commit();
  for (int i = 0; i < 32; i++) { s[i] = r[i]; asm volatile("" : "+f"(s[i])); }
  for (int i = 0; i < 32; i++) r[i] = s[i];
}
wait();
store(d, r); })"),
               2);
}

// Accumulators with an index that is known at run time are in local memory between products.
TEST(Warpgroup, AccumulatorsMayBeInLocalMemory) {
  expect_right(kFill + std::string(R"(float s[2][32] = {};
fence();
#pragma unroll 1
for (int i = 0; i < 4; i++) {
  multiply(s[i & 1], da + i * 2, db + i * 2, 1);
}
commit(); wait();
for (int i = 0; i < 32; i++) r[i] = s[0][i] + s[1][i];
store(d, r); })"));
}

TEST(Warpgroup, TheTileMayBeOverwrittenOnceItHasBeenWaitedFor) {
  expect_right(kFill + std::string("fence();\n") + kProducts +
                   "commit(); wait(); __syncthreads();\n"
                   "for (int i = t; i < 4096; i += 128) ta[place(i)] = b[i];\n"
                   "proxy_fence(); __syncthreads();\n"
                   "for (int i = t; i < 4096; i += 128) ta[place(i)] = a[i];\n"
                   "proxy_fence(); __syncthreads(); fence();\n" +
                   kProducts + "commit(); wait(); store(d, r); }",
               2);
}

// Rows of A that the kernel does not need are those of D that it does not store.
TEST(Warpgroup, RowsThatNobodyWroteAreGarbage) {
  const std::string body = R"(
for (int i = t; i < 4096; i += 128) { if (i < 2048) ta[place(i)] = a[i]; tb[place(i)] = b[i]; }
proxy_fence(); __syncthreads();
u64 da = descriptor(ta), db = descriptor(tb); float r[32] = {};
fence();
)" + std::string(kProducts) +
                           "commit(); wait();\nif (t < 64) store(d, r); }";
  const Ran ran = run(body, Order::kForward, 128, 32);
  ASSERT_FALSE(ran.result.fault) << ran.result.fault->message;
  ASSERT_FALSE(ran.result.unset.empty());
  for (unsigned i = 0; i < 32 * kSize; ++i) {
    int sum = 0;
    for (unsigned k = 0; k < kSize; ++k) sum += a_at(i / kSize, k) * b_at(i % kSize, k);
    ASSERT_EQ(ran.d[i], static_cast<float>(sum));
  }
}

class WrongWarpgroup : public ::testing::TestWithParam<WrongProduct> {};
TEST_P(WrongWarpgroup, IsFoundInEveryOrder) {
  const WrongProduct& kernel = GetParam();
  for (const Order order : kOrders) {
    const Ran ran = run(kernel.body, order, kernel.threads);
    ASSERT_TRUE(ran.result.fault) << static_cast<int>(order);
    const cpu::Fault& fault = *ran.result.fault;
    EXPECT_EQ(fault.kind, kernel.kind) << fault.message;
    EXPECT_NE(fault.message.find(kernel.message), std::string::npos) << fault.message;
    if (const std::uint32_t line = marked_line(preface() + kernel.body); line != 0) {
      EXPECT_EQ(fault.line, line) << fault.message;
    }
  }
}

// The same with a fault in its line.
const char* const kWrongProducts =
    "for (int i = 0; i < 4; i++) multiply(r, da + i * 2, db + i * 2, 1);  // here\n";
const std::string kWhole = std::string("fence();\n") + kProducts + "commit(); wait();\n";
INSTANTIATE_TEST_SUITE_P(
    Tensor, WrongWarpgroup,
    ::testing::Values(
        WrongProduct{"without_fence",
                     kFill + std::string(kWrongProducts) + "commit(); wait(); store(d, r); }",
                     FaultKind::kDataRace, "without a wgmma.fence before the first"},
        WrongProduct{"written_after_the_fence",
                     kFill + kWhole + "for (int i = 0; i < 32; i++) r[i] *= 2;\n" + kWrongProducts +
                         "commit(); wait(); store(d, r); }",
                     FaultKind::kDataRace, "without a wgmma.fence in between"},
        WrongProduct{
            "without_wait",
            kFill + std::string("fence();\n") + kProducts + "commit();\nstore(d, r);  // here\n}",
            FaultKind::kDataRace, "a register is read while the wgmma of line"},
        WrongProduct{"waits_for_too_few",
                     kFill + std::string("fence();\n") + kProducts +
                         "commit(); wait_for_all_but_one();\nstore(d, r);  // here\n}",
                     FaultKind::kDataRace, "a register is read while"},
        WrongProduct{
            "waits_without_commit",
            kFill + std::string("fence();\n") + kProducts + "wait();\nstore(d, r);  // here\n}",
            FaultKind::kDataRace, "a register is read while"},
        WrongProduct{"another_shape_under_way",
                     kFill + std::string("fence();\n") + kProducts +
                         "multiply_half(r, da, db, 1);  // here\ncommit(); wait(); store(d, r); }",
                     FaultKind::kDataRace, "used in another shape while"},
        WrongProduct{
            "factor_overwritten",
            kFill + std::string(R"(unsigned f[4]; for (int i = 0; i < 4; i++) f[i] = a[t + i];
fence();
multiply_registers(r, f, db, 1); commit();
asm volatile("add.u32 %0, %0, 1;" : "+r"(f[0]));  // here
wait(); store(d, r); d[t] += f[0]; })"),
            FaultKind::kDataRace, "register is written while the wgmma of line"},
        WrongProduct{"one_warp_less",
                     kFill + std::string("if (t < 96) {\nfence();\n") + kProducts +
                         "commit(); wait(); } store(d, r); }",
                     FaultKind::kDivergentBarrier, "four warps of a warpgroup"},
        WrongProduct{"other_descriptors",
                     kFill + std::string("if (t >= 96) da += 2;\n") + kWhole + "store(d, r); }",
                     FaultKind::kDivergentBarrier, "same descriptors"},
        WrongProduct{"a_block_of_three_warps", kFill + kWhole + "store(d, r); }",
                     FaultKind::kDivergentBarrier, "but the last one of the block has 3", 96},
        WrongProduct{"half_of_a_warp",
                     kFill + std::string("if (t % 32 < 16) {\nfence();  \n") + kProducts +
                         "commit(); wait(); } store(d, r); }",
                     FaultKind::kDivergentBarrier, ""},
        WrongProduct{"lanes_with_other_descriptors",
                     kFill + std::string("da += t % 2;\n") + kWhole + "store(d, r); }",
                     FaultKind::kIllegalAddress, "different descriptors"},
        WrongProduct{"lanes_that_add",
                     kFill + std::string("fence();\nmultiply(r, da, db, t & 1);\n") +
                         "commit(); wait(); store(d, r); }",
                     FaultKind::kDivergentBarrier, "disagree"},
        WrongProduct{"outside_of_shared_memory",
                     kFill + std::string("db += 1024;\n") + kWhole + "store(d, r); }",
                     FaultKind::kIllegalAddress, "of shared memory, of which the block has 16384"},
        WrongProduct{"reserved_bits",
                     kFill + std::string("db |= 1ull << 46;\n") + kWhole + "store(d, r); }",
                     FaultKind::kIllegalAddress, "reserved bits"},
        WrongProduct{
            "overwritten_too_early",
            kFill + std::string("fence();\n") + kProducts +
                "commit();\nta[place(t / 32 * 1024 + t % 32)] = 0x4200;\nwait();  // here\nstore(d, r); }",
            FaultKind::kDataRace, "is overwritten while the wgmma of line"},
        WrongProduct{
            "copied_over_too_early",
            kFill + std::string("fence();\n") + kProducts +
                "commit();\nasm volatile(\"cp.async.ca.shared.global [%0], [%1], 16;\" :: "
                "\"r\"((unsigned)__cvta_generic_to_shared(tb + t * 8)), \"l\"(a + t * 8) : "
                "\"memory\");\nwait();  // here\nstore(d, r); }",
            FaultKind::kDataRace, "is overwritten while the wgmma of line"},
        WrongProduct{
            "copied_over_in_bulk_too_early",
            std::string(kBulkFill) + kDescriptors + "fence();\n" + kProducts +
                "commit();\nif (t == 0) asm volatile("
                "\"mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 16;\" :: \"r\"(mbarrier) : "
                "\"memory\");\nif (t == 0) bulk(ta, b, mbarrier);\nwait();\nstore(d, r); }",
            FaultKind::kDataRace, ""},
        WrongProduct{"without_proxy_fence",
                     std::string(kFillUnfenced) + "__syncthreads();\n" + kDescriptors +
                         std::string("fence();\n") + kWrongProducts +
                         "commit(); wait(); store(d, r); }",
                     FaultKind::kDataRace, "needs fence.proxy.async"},
        WrongProduct{"proxy_fence_of_some",
                     std::string(kFillUnfenced) + "if (t < 64) proxy_fence();\n__syncthreads();\n" +
                         kDescriptors + std::string("fence();\n") + kWrongProducts +
                         "commit(); wait(); store(d, r); }",
                     FaultKind::kDataRace, "needs fence.proxy.async"},
        WrongProduct{"without_barrier",
                     kFillUnfenced + std::string("proxy_fence();\n") + kDescriptors + kWhole +
                         "store(d, r); }",
                     FaultKind::kDataRace, "without a barrier"}),
    [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace krl::machine::kernels_with_warpgroups
