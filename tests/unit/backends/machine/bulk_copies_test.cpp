// Bulk copies (cp.async.bulk), the mbarriers that count their bytes, and the fences between ordinary
// accesses and the asynchronous proxy.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <numeric>
#include <string>

#include "tests/unit/backends/machine/emulation.hpp"

namespace krl::machine {
namespace {

using ::testing::HasSubstr;

// Instructions as functions of one thread, and the kernels: x has 1024 floats, of which each is its
// index, y has 1024, 128 threads, one block.
constexpr const char* kBulkInstructions = R"(
using u32 = unsigned;
using u64 = unsigned long long;
__device__ u32 at(const void* p) { return (u32)__cvta_generic_to_shared(p); }
__device__ void init(u64* bar, int count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(at(bar)), "r"(count) : "memory");
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}
__device__ void expect(u64* bar, u32 bytes) {
  asm volatile("mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 _, [%0], %1;" ::"r"(at(bar)), "r"(bytes) : "memory");
}
__device__ void arrive(u64* bar) {
  asm volatile("mbarrier.arrive.release.cta.shared::cta.b64 _, [%0];" ::"r"(at(bar)) : "memory");
}
__device__ bool try_wait(u64* bar, u32 parity) {
  u32 done;
  asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }" : "=r"(done) : "r"(at(bar)), "r"(parity) : "memory");
  return done;
}
__device__ void wait(u64* bar, u32 parity) { while (!try_wait(bar, parity)) {} }
__device__ void load(void* to, const void* from, u32 bytes, u64* bar) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(at(to)), "l"(__cvta_generic_to_global(from)), "r"(bytes), "r"(at(bar)) : "memory");
}
__device__ void store(void* to, const void* from, u32 bytes) {
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(__cvta_generic_to_global(to)), "r"(at(from)), "r"(bytes) : "memory");
}
__device__ void commit() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }
__device__ void wait_read() { asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory"); }
__device__ void wait_all() { asm volatile("cp.async.bulk.wait_group 0;" ::: "memory"); }
__device__ void proxy_fence() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
#define KERNEL(name) extern "C" __global__ void name(const float* x, float* y)
#define SHARED __shared__ alignas(128) float s[1024]; __shared__ u64 bar[8]; const int t = threadIdx.x;
#define BEGIN SHARED if (t == 0) init(bar, 1); __syncthreads();
)";

// Each leaves in y what is in x.
constexpr const char* kRightCopies = R"(
KERNEL(load_all) { BEGIN
  if (t == 0) { expect(bar, 4096); load(s, x, 4096, bar); }
  wait(bar, 0);
  for (int i = t; i < 1024; i += 128) y[i] = s[i];
}
KERNEL(expect_afterwards) { BEGIN
  if (t == 0) { load(s, x, 2048, bar); load(s + 512, x + 512, 2048, bar); expect(bar, 4096); }
  wait(bar, 0);
  for (int i = t; i < 1024; i += 128) y[i] = s[i];
}
KERNEL(every_thread) { SHARED
  if (t == 0) init(bar, 128);
  __syncthreads();
  expect(bar, 32);
  load(s + 8 * t, x + 8 * t, 32, bar);
  wait(bar, 0);
  for (int i = t; i < 1024; i += 128) y[i] = s[1023 - (1023 - i)];
}
// One warp loads, three compute, through three stages of 128 floats.
KERNEL(pipeline) { SHARED
  u64 *full = bar, *empty = bar + 3;
  if (t == 0) for (int k = 0; k < 3; ++k) { init(full + k, 1); init(empty + k, 96); }
  __syncthreads();
  if (t < 32) {
    if (t == 0) for (int k = 0; k < 8; ++k) {
      const int stage = k % 3;
      wait(empty + stage, (k / 3 & 1) ^ 1);
      expect(full + stage, 512);
      load(s + 128 * stage, x + 128 * k, 512, full + stage);
    }
  } else {
    for (int k = 0; k < 8; ++k) {
      const int stage = k % 3;
      wait(full + stage, k / 3 & 1);
      for (int i = t - 32; i < 128; i += 96) y[128 * k + i] = s[128 * stage + i];
      arrive(empty + stage);
    }
  }
}
KERNEL(store_all) { SHARED
  for (int i = t; i < 1024; i += 128) s[i] = x[i];
  proxy_fence();
  __syncthreads();
  if (t == 0) { store(y, s, 4096); commit(); wait_all(); }
}
KERNEL(fence_after_the_barrier) { SHARED
  for (int i = t; i < 1024; i += 128) s[i] = x[i];
  __syncthreads();
  if (t == 0) { proxy_fence(); store(y, s, 4096); commit(); wait_read(); }
}
KERNEL(fence_of_another_warp) { SHARED
  for (int i = t; i < 1024; i += 128) s[i] = x[i];
  __syncthreads();
  if (t == 64) asm volatile("fence.proxy.async;" ::: "memory");
  __syncthreads();
  if (t == 0) { store(y, s, 4096); commit(); wait_read(); }
}
KERNEL(fence_behind_an_mbarrier) { SHARED
  if (t == 0) init(bar, 96);
  __syncthreads();
  if (t >= 32) {
    for (int i = t - 32; i < 1024; i += 96) s[i] = x[i];
    proxy_fence();
    arrive(bar);
  } else if (t == 0) {
    wait(bar, 0);
    store(y, s, 4096); commit(); wait_read();
  }
}
KERNEL(source_used_again) { SHARED
  for (int k = 0; k < 8; ++k) {
    if (t == 0) wait_read();
    __syncthreads();
    s[t] = x[128 * k + t];
    proxy_fence();
    __syncthreads();
    if (t == 0) { store(y + 128 * k, s, 512); commit(); }
  }
  if (t == 0) wait_read();
}
KERNEL(two_groups) { SHARED
  for (int i = t; i < 1024; i += 128) s[i] = x[i];
  proxy_fence();
  __syncthreads();
  if (t == 0) {
    store(y, s, 2048); commit();
    store(y + 512, s + 512, 2048); commit();
    asm volatile("cp.async.bulk.wait_group.read 1;" ::: "memory");
  }
  __syncthreads();
  s[t] = 0;
  if (t == 0) wait_read();
}
KERNEL(through_shared) { BEGIN
  if (t == 0) {
    expect(bar, 4096); load(s, x, 4096, bar);
    wait(bar, 0);
    store(y, s, 4096); commit(); wait_all();
  }
}
KERNEL(one_source_twice) { SHARED
  s[t] = x[t];
  for (int i = t; i < 1024; i += 128) y[i] = x[i];
  proxy_fence();
  __syncthreads();
  if (t == 0) { store(y, s, 512); commit(); wait_all(); store(y, s, 512); commit(); store(y, s, 256); commit(); wait_read(); }
}
KERNEL(predicated) { BEGIN
  if (t < 32) {
    asm volatile("{ .reg .pred p; elect.sync _|p, 0xffffffff;\n"
      "@p mbarrier.arrive.expect_tx.relaxed.cluster.shared::cluster.b64 _, [%3], 4096;\n"
      "@p cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3]; }"
      ::"r"(at(s)), "l"(__cvta_generic_to_global(x)), "r"(4096), "r"(at(bar)) : "memory");
  }
  wait(bar, 0);
  for (int i = t; i < 1024; i += 128) y[i] = s[i];
}
KERNEL(register_counts) {
  if (threadIdx.x < 128) asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
  for (int i = threadIdx.x; i < 1024; i += 128) y[i] = x[i];
  asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
}
)";

std::vector<float> ascending() {
  std::vector<float> x(1024);
  std::iota(x.begin(), x.end(), 0.0f);
  return x;
}

struct BulkOutcome {
  Result result;
  std::vector<float> y;
};

BulkOutcome run_bulk(const std::string& kernels, const char* kernel, Order order = Order::kForward,
                     std::uint32_t blocks = 1) {
  std::vector<std::string> names;
  for (std::size_t at = 0; (at = kernels.find("KERNEL(", at)) != std::string::npos;) {
    at += 7;
    names.push_back(kernels.substr(at, kernels.find(')', at) - at));
  }
  Emulation emulation(kBulkInstructions + kernels, names);
  emulation.job.work_limit = 3'000'000;
  const auto x = emulation.input("x", ascending());
  const auto y = emulation.output<float>("y", 1024, -1.0f);
  const auto found = std::find(names.begin(), names.end(), kernel);
  EXPECT_NE(found, names.end()) << kernel;
  emulation.launch(static_cast<std::uint32_t>(found - names.begin()), {blocks, 1, 1}, {128, 1, 1},
                   {x, y});
  BulkOutcome outcome{emulation.run(order), {}};
  EXPECT_NE(emulation.compile_log().find("error"), 0u) << emulation.compile_log();
  outcome.y = emulation.values<float>(y);
  return outcome;
}

class RightBulkCopies : public ::testing::TestWithParam<const char*> {};

TEST_P(RightBulkCopies, ArriveInEveryOrder) {
  for (const Order order :
       {Order::kForward, Order::kReversed, Order::kShuffled, Order::kLockstep, Order::kDrawn}) {
    const BulkOutcome outcome = run_bulk(kRightCopies, GetParam(), order);
    ASSERT_FALSE(outcome.result.fault)
        << outcome.result.fault->message << ", line " << outcome.result.fault->line;
    ASSERT_EQ(outcome.y, ascending());
  }
}

INSTANTIATE_TEST_SUITE_P(Bulk, RightBulkCopies,
                         ::testing::Values("load_all", "expect_afterwards", "every_thread",
                                           "pipeline", "store_all", "fence_after_the_barrier",
                                           "fence_of_another_warp", "fence_behind_an_mbarrier",
                                           "source_used_again", "two_groups", "through_shared",
                                           "one_source_twice", "predicated", "register_counts"),
                         [](const auto& info) { return std::string(info.param); });

constexpr const char* kReductions = R"(
#define REDUCE(from, form) \
  asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group." form " [%0], [%1], 512;" \
               ::"l"(__cvta_generic_to_global(y + from)), "r"(at(s + from)) : "memory")
KERNEL(reductions) { SHARED
  for (int i = t; i < 1024; i += 128) s[i] = i < 512 ? x[i] : __uint_as_float(0x40004040);
  proxy_fence();
  __syncthreads();
  if (t != 0) return;
  REDUCE(0, "add.f32");
  REDUCE(128, "xor.b32");
  REDUCE(256, "max.s32");
  REDUCE(384, "min.u32");
  REDUCE(512, "add.noftz.bf16");
  REDUCE(640, "inc.u32");
  REDUCE(768, "or.b64");
  commit();
  wait_all();
}
)";

std::uint32_t bits_of(float value) { return std::bit_cast<std::uint32_t>(value); }

// y has −1 everywhere; two blocks reduce into the same elements.
TEST(BulkCopies, ReduceElementByElement) {
  const BulkOutcome outcome = run_bulk(kReductions, "reductions", Order::kForward, 2);
  ASSERT_FALSE(outcome.result.fault) << outcome.result.fault->message;
  const auto& y = outcome.y;
  const std::uint32_t before = bits_of(-1.0f);
  EXPECT_EQ(y[5], 9.0f);
  EXPECT_EQ(bits_of(y[133]), before) << "twice";
  EXPECT_EQ(y[261], 261.0f);
  EXPECT_EQ(y[389], 389.0f);
  EXPECT_EQ(bits_of(y[517]), 0x404040c0u) << "−1 + 2 + 2, 0 + 3 + 3";
  EXPECT_EQ(bits_of(y[645]), 1u) << "past the limit, so 0, and then 1";
  EXPECT_EQ(bits_of(y[773]), before | 0x40004040u);
  EXPECT_EQ(y[900], -1.0f);
}

// Sectors are those of the bytes; copies under way at the same time are waited for together.
TEST(BulkCopies, CountAsLoadsAndStores) {
  const Counters loads = run_bulk(kRightCopies, "pipeline").result.runs.at(0).at(0).counters;
  EXPECT_EQ(loads.global_load_requests, 8u);
  EXPECT_EQ(loads.global_load_sectors, 128u);
  EXPECT_EQ(loads.needed_sectors, 128u + loads.global_store_sectors);
  EXPECT_EQ(loads.dram_load_sectors, 128u);
  EXPECT_EQ(loads.vector16_requests, 8u);
  EXPECT_GE(loads.critical.dram_requests, 3u) << "8 copies, 3 at a time";
  EXPECT_LE(loads.critical.dram_requests, 4u);
  const Counters stores = run_bulk(kRightCopies, "store_all").result.runs.at(0).at(0).counters;
  EXPECT_EQ(stores.global_store_requests, 1u);
  EXPECT_EQ(stores.global_store_sectors, 128u);
  EXPECT_EQ(stores.dram_store_sectors, 128u);
}

// The line of a fault is the one that ends with "// here", the first after the kernel's name.
constexpr const char* kWrongCopies = R"(
KERNEL(no_expect) { BEGIN
  if (t == 0) { load(s, x, 512, bar); arrive(bar); }
  wait(bar, 0);
  y[t] = s[t];  // here
}
KERNEL(too_few_bytes) { BEGIN
  if (t == 0) { expect(bar, 256); load(s, x, 256, bar); load(s + 64, x + 64, 256, bar); }
  wait(bar, 0);
  y[t] = s[t];  // here
}
KERNEL(too_many_bytes) { BEGIN
  if (t == 0) { expect(bar, 1024); load(s, x, 512, bar); }
  while (!try_wait(bar, 0)) {}
  y[t] = s[t];
}
KERNEL(more_come) { BEGIN
  if (t == 0) { expect(bar, 496); load(s, x, 512, bar); }
  wait(bar, 0);
  y[t] = s[t];
}
KERNEL(never_expected) { SHARED
  if (t == 0) { init(bar, 2); }
  __syncthreads();
  if (t == 0) { load(s, x, 512, bar); arrive(bar); }
  wait(bar, 0);
  y[t] = s[t];
}
KERNEL(beyond_the_count) { BEGIN
  if (t == 0)
    for (int i = 0; i < 2; ++i)
      asm volatile("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], 1000000;" ::"r"(at(bar)));  // here
}
KERNEL(no_wait) { BEGIN
  if (t == 0) { expect(bar, 512); load(s, x, 512, bar); }
  __syncthreads();
  y[t] = s[t];  // here
}
KERNEL(one_thread_waits_for_all) { BEGIN
  if (t == 0) { expect(bar, 512); load(s, x, 512, bar); wait(bar, 0); }
  y[t] = s[t];  // here
}
KERNEL(looks_once) { BEGIN
  if (t == 0) { expect(bar, 512); load(s, x, 512, bar); try_wait(bar, 0); y[0] = s[0]; }
  y[t] = 0;
}
KERNEL(written_under_way) { BEGIN
  if (t == 0) { expect(bar, 512); load(s, x, 512, bar); }
  __syncthreads();
  s[t] = 1;  // here
  wait(bar, 0);
}
KERNEL(no_proxy_fence) { SHARED
  s[t] = x[t];
  __syncthreads();
  if (t == 0) { store(y, s, 512); commit(); wait_all(); }
}
KERNEL(own_stores_unfenced) { SHARED
  if (t == 0) { for (int i = 0; i < 4; ++i) s[i] = x[i]; store(y, s, 16); commit(); wait_all(); }
}
KERNEL(fence_before_the_store) { SHARED
  proxy_fence();
  s[t] = x[t];
  __syncthreads();
  if (t == 0) { store(y, s, 512); commit(); wait_all(); }
}
KERNEL(fence_for_global) { SHARED
  s[t] = x[t];
  asm volatile("fence.proxy.async.global;" ::: "memory");
  __syncthreads();
  if (t == 0) { store(y, s, 512); commit(); wait_all(); }
}
KERNEL(no_barrier) { SHARED
  s[t] = x[t];
  proxy_fence();
  if (t == 0) { store(y, s, 512); commit(); wait_all(); }
}
KERNEL(overwrites_unfenced) { BEGIN
  s[t] = 0;
  __syncthreads();
  if (t == 0) { expect(bar, 512); load(s, x, 512, bar); }
  wait(bar, 0);
  y[t] = s[t];
}
KERNEL(overwrites_what_is_read) { BEGIN
  if (t == 0) { expect(bar, 512); load(s, x, 512, bar); }
  wait(bar, 0);
  y[t] = s[t];
  if (t == 0) { expect(bar, 512); load(s, x + 512, 512, bar); }
  wait(bar, 1);
  y[128 + t] = s[t];
}
KERNEL(unwritten_source) { SHARED
  if (t < 64) s[t] = x[t];
  proxy_fence();
  __syncthreads();
  if (t == 0) { store(y, s, 512); commit(); wait_all(); }
}
KERNEL(source_overwritten) { SHARED
  s[t] = x[t];
  proxy_fence();
  __syncthreads();
  if (t == 0) { store(y, s, 512); commit(); }
  __syncthreads();
  s[t] = 0;  // here
  if (t == 0) wait_all();
}
KERNEL(not_committed) { SHARED
  s[t] = x[t];
  proxy_fence();
  __syncthreads();
  if (t == 0) { store(y, s, 512); wait_all(); }
}
KERNEL(store_not_waited_for) { SHARED
  s[t] = x[t];
  proxy_fence();
  __syncthreads();
  if (t == 0) { store(y, s, 512); commit(); }
}
KERNEL(load_not_waited_for) { BEGIN
  if (t == 0) { expect(bar, 512); load(s, x, 512, bar); }
  y[t] = 1;
}
KERNEL(read_before_it_arrives) { SHARED
  s[t] = x[t];
  proxy_fence();
  __syncthreads();
  if (t == 0) { store(y, s, 512); commit(); wait_read(); }
  __syncthreads();
  if (t == 64) y[512] = y[5];
}
KERNEL(misaligned_source) { BEGIN
  if (t == 0) { expect(bar, 512); load(s, x + 1, 512, bar); }
  wait(bar, 0);
}
KERNEL(misaligned_destination) { BEGIN
  if (t == 0) { expect(bar, 512); load(s + 2, x, 512, bar); }
  wait(bar, 0);
}
KERNEL(odd_size) { BEGIN
  if (t == 0) { expect(bar, 520); load(s, x, 520, bar); }
  wait(bar, 0);
}
KERNEL(past_the_source) { BEGIN
  if (t == 0) { expect(bar, 512); load(s, x + 1000, 512, bar); }
  wait(bar, 0);
}
KERNEL(past_shared) { BEGIN
  if (t == 0) { expect(bar, 4096); load(s + 512, x, 4096, bar); }
  wait(bar, 0);
}
KERNEL(past_the_destination) { SHARED
  s[t] = x[t];
  proxy_fence();
  __syncthreads();
  if (t == 0) { store(y + 1000, s, 512); commit(); wait_all(); }
}
KERNEL(into_an_input) { SHARED
  s[t] = x[t];
  proxy_fence();
  __syncthreads();
  if (t == 0) { store((void*)x, s, 512); commit(); wait_all(); }
}
KERNEL(no_barrier_object) { SHARED
  if (t == 0) load(s, x, 512, bar);
}
KERNEL(one_lane_changes_registers) {
  if (threadIdx.x % 32 == 0) asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");  // here
  __syncthreads();
}
)";

struct WrongCopy {
  const char* kernel;
  FaultKind kind;
  const char* message;  // a part of it
};

class WrongBulkCopies : public ::testing::TestWithParam<WrongCopy> {};

std::uint32_t line_of_fault(const std::string& source, const std::string& kernel) {
  const std::size_t begin = source.find("KERNEL(" + kernel + ")");
  const std::size_t end = source.find("\nKERNEL(", begin), here = source.find("// here", begin);
  if (here == std::string::npos || here > end) return 0;
  return static_cast<std::uint32_t>(
      1 + std::count(source.begin(), source.begin() + static_cast<std::ptrdiff_t>(here), '\n'));
}

TEST_P(WrongBulkCopies, AreFound) {
  const WrongCopy& wrong = GetParam();
  const BulkOutcome outcome = run_bulk(kWrongCopies, wrong.kernel);
  ASSERT_TRUE(outcome.result.fault);
  const auto& fault = *outcome.result.fault;
  EXPECT_EQ(name_of(fault.kind), name_of(wrong.kind)) << fault.message;
  EXPECT_THAT(fault.message, HasSubstr(wrong.message));
  EXPECT_GT(fault.line, 0u);
  const std::uint32_t line =
      line_of_fault(std::string(kBulkInstructions) + kWrongCopies, wrong.kernel);
  if (line != 0) {
    EXPECT_EQ(fault.line, line);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Bulk, WrongBulkCopies,
    ::testing::Values(
        WrongCopy{"no_expect", FaultKind::kDataRace,
                  "has not waited for its asynchronous copy there"},
        WrongCopy{"too_few_bytes", FaultKind::kDataRace,
                  "has not waited for its asynchronous copy there"},
        WrongCopy{"too_many_bytes", FaultKind::kDeadlock,
                  "waits for 512 bytes that no copy brings"},
        WrongCopy{"more_come", FaultKind::kDeadlock, "someone to expect 16 bytes that have come"},
        WrongCopy{"never_expected", FaultKind::kDeadlock,
                  "1 arrival and someone to expect 512 bytes"},
        WrongCopy{"beyond_the_count", FaultKind::kTrap, "more than 1048575 bytes"},
        WrongCopy{"no_wait", FaultKind::kDataRace,
                  "s[0] is read by thread (0, 0, 0) while thread (0, 0, 0) has not waited"},
        WrongCopy{"looks_once", FaultKind::kDataRace, "has not waited"},
        WrongCopy{"written_under_way", FaultKind::kDataRace, "is written by thread"},
        WrongCopy{
            "no_proxy_fence", FaultKind::kDataRace,
            "s[0] is read asynchronously for thread (0, 0, 0) after a store by thread (0, 0, 0) and needs fence.proxy.async"},
        WrongCopy{"own_stores_unfenced", FaultKind::kDataRace, "needs fence.proxy.async"},
        WrongCopy{"fence_before_the_store", FaultKind::kDataRace, "needs fence.proxy.async"},
        WrongCopy{"fence_for_global", FaultKind::kDataRace, "needs fence.proxy.async"},
        WrongCopy{"no_barrier", FaultKind::kDataRace, "without a barrier between the two"},
        WrongCopy{"overwrites_unfenced", FaultKind::kDataRace,
                  "s[0] is written asynchronously for thread (0, 0, 0) after a store"},
        WrongCopy{"overwrites_what_is_read", FaultKind::kDataRace,
                  "without a barrier between the two"},
        WrongCopy{"unwritten_source", FaultKind::kUninitialisedShared, "s[64] is read"},
        WrongCopy{"source_overwritten", FaultKind::kDataRace,
                  "has not waited for its asynchronous copy from there"},
        WrongCopy{"not_committed", FaultKind::kDataRace, "the block ends before anyone has waited"},
        WrongCopy{"store_not_waited_for", FaultKind::kDataRace,
                  "the block ends before anyone has waited"},
        WrongCopy{"load_not_waited_for", FaultKind::kDataRace,
                  "the block ends before anyone has waited"},
        WrongCopy{"read_before_it_arrives", FaultKind::kDataRace, "y[4]"},
        WrongCopy{"misaligned_source", FaultKind::kMisaligned, "4 bytes past a multiple of 16"},
        WrongCopy{"misaligned_destination", FaultKind::kMisaligned,
                  "8 bytes past a multiple of 16"},
        WrongCopy{"odd_size", FaultKind::kMisaligned, "a bulk copy of 520 bytes"},
        WrongCopy{"past_the_source", FaultKind::kIllegalAddress, "x[1024]"},
        WrongCopy{"past_shared", FaultKind::kIllegalAddress, "at byte 2048 of shared memory"},
        WrongCopy{"past_the_destination", FaultKind::kIllegalAddress, "y[1024]"},
        WrongCopy{"into_an_input", FaultKind::kIllegalAddress, "may only be read"},
        WrongCopy{"no_barrier_object", FaultKind::kUninitialisedShared, "bar"},
        WrongCopy{"one_lane_changes_registers", FaultKind::kDivergentBarrier,
                  "waits for lanes of its mask that never arrive"}),
    [](const auto& info) { return std::string(info.param.kernel); });

// In some orders the others read what has arrived; in another they come before it has begun.
TEST(BulkCopies, MustBeWaitedForByEveryReader) {
  const BulkOutcome outcome = run_bulk(kWrongCopies, "one_thread_waits_for_all", Order::kReversed);
  ASSERT_TRUE(outcome.result.fault);
  EXPECT_THAT(outcome.result.fault->message, HasSubstr("is a barrier missing?"));
  EXPECT_EQ(outcome.result.fault->line, line_of_fault(std::string(kBulkInstructions) + kWrongCopies,
                                                      "one_thread_waits_for_all"));
}

}  // namespace
}  // namespace krl::machine
