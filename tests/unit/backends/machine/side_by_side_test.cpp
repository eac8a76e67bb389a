// Blocks side by side: what races come to that may go well otherwise, and what tells of them.
#include <gtest/gtest.h>

#include <numeric>

#include "tests/unit/backends/machine/emulation.hpp"

namespace krl::machine {
namespace {

// Each thread that adds does so with 1.
constexpr std::string_view kUpdates = R"(
__global__ void by_volatile(volatile int* sum) {
  if (threadIdx.x == 0) *sum = *sum + 1;
}
__global__ void by_atomics(int* sum) { atomicAdd(sum, 1); }
__global__ void by_exchange(int* sum) {
  if (threadIdx.x == 0) atomicExch(sum, atomicAdd(sum, 0) + 1);
}
__global__ void by_lock(int* sum, int* lock) {
  if (threadIdx.x != 0) return;
  while (atomicCAS(lock, 0, 1) != 0) {}
  __threadfence();
  *sum += 1;
  __threadfence();
  atomicExch(lock, 0);
}
__global__ void of_warps(int* sum) {
  __shared__ volatile int total;
  if (threadIdx.x == 0) total = 0;
  __syncthreads();
  if (threadIdx.x % 32 == 0) total = total + 1;
  __syncthreads();
  if (threadIdx.x == 0) atomicAdd(sum, total);
})";

struct Update {
  Result result;
  int sum = 0;
};

Update update(std::string kernel, Order order, std::uint32_t threads = 32) {
  Emulation run(kUpdates, {kernel});
  const auto sum = run.output<int>("sum", 1), lock = run.output<int>("lock", 1);
  std::vector<Argument> arguments = {sum};
  if (kernel == "by_lock") arguments.push_back(lock);
  run.launch(0, {10, 1, 1}, {threads, 1, 1}, arguments);
  Update update{run.run(order), 0};
  update.sum = run.values<int>(sum)[0];
  return update;
}

TEST(SideBySide, AnUpdateThatIsNoAtomicOneIsLost) {
  for (const char* kernel : {"by_volatile", "by_exchange"}) {
    const Update forward = update(kernel, Order::kForward);
    EXPECT_FALSE(forward.result.fault) << forward.result.fault->message;
    EXPECT_GE(forward.sum, 1) << kernel;
    EXPECT_LE(forward.sum, 10) << kernel;
    ASSERT_FALSE(forward.result.encounters.empty()) << kernel;
    EXPECT_EQ(forward.result.encounters[0].place, "sum[0]");
    const Update lockstep = update(kernel, Order::kLockstep);
    EXPECT_FALSE(lockstep.result.fault) << lockstep.result.fault->message;
    EXPECT_LT(lockstep.sum, 10) << kernel;
  }
}

TEST(SideBySide, WarpsOfABlockMeetInSharedMemory) {
  const Update forward = update("of_warps", Order::kForward, 128);
  EXPECT_FALSE(forward.result.fault) << forward.result.fault->message;
  EXPECT_GE(forward.sum, 10);
  EXPECT_LE(forward.sum, 40);
  const std::vector<Encounter> expected = {{0, 21, "shared total"}};
  EXPECT_EQ(forward.result.encounters, expected);
  EXPECT_LT(update("of_warps", Order::kLockstep, 128).sum, 40);
}

TEST(SideBySide, WhatIsRightStaysRight) {
  for (const Order order : {Order::kForward, Order::kLockstep, Order::kDrawn}) {
    const Update atomics = update("by_atomics", order);
    EXPECT_EQ(atomics.sum, 320);
    EXPECT_TRUE(atomics.result.encounters.empty()) << "nobody looks at the old values";
    const Update lock = update("by_lock", order);
    EXPECT_EQ(lock.sum, 10);
    EXPECT_FALSE(lock.result.fault);
    EXPECT_FALSE(lock.result.encounters.empty());
  }
}

// Each block takes what the one before it left, and says so too early.
constexpr std::string_view kChain = R"(
__global__ void chain(volatile int* values, volatile int* flags) {
  int value = 1;
  if (blockIdx.x > 0) {
    while (flags[blockIdx.x - 1] == 0) {}
    __threadfence();
    value += values[blockIdx.x - 1];
  }
  flags[blockIdx.x] = 1;
  __threadfence();
  values[blockIdx.x] = value;
  __threadfence();
})";

std::vector<int> chain(Order order, std::uint32_t held_line) {
  Emulation run(kChain, {"chain"});
  const auto values = run.output<int>("values", 20), flags = run.output<int>("flags", 20);
  run.launch(0, {20, 1, 1}, {1, 1, 1}, {values, flags});
  run.run(order, held_line);
  return run.values<int>(values);
}

TEST(SideBySide, AWarpIsHeldUpBehindTheLine) {
  std::vector<int> right(20);
  std::iota(right.begin(), right.end(), 1);
  EXPECT_EQ(chain(Order::kForward, 0), right);
  EXPECT_NE(chain(Order::kDrawn, 9), right);
}

// Lanes that were held up come to a matrix operation after the others of their warp.
TEST(SideBySide, LanesThatWereHeldUpAreNotElsewhere) {
  constexpr std::string_view kSource = R"(
__global__ void k(int* out) {
  __shared__ __align__(16) unsigned tile[32];
  unsigned value = threadIdx.x;
  for (int i = 0; i < 200; ++i) {
    tile[threadIdx.x] = value + i;
    __syncthreads();
    const unsigned row = (unsigned)__cvta_generic_to_shared(tile + threadIdx.x % 8 * 4);
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(value) : "r"(row));
    __syncthreads();
  }
  out[threadIdx.x] = value;
})";
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Emulation run(kSource, {"k"});
    const auto out = run.output<int>("out", 32);
    run.launch(0, {1, 1, 1}, {32, 1, 1}, {out});
    run.job.seed = seed;
    const Result result = run.run(Order::kDrawn);
    ASSERT_FALSE(result.fault) << seed << ": " << result.fault->message;
  }
}

// Block 0 waits for the others and adds what they have left, by accesses without order, with fences,
// or by loads that the L1 cache may answer.
constexpr std::string_view kOld = R"(
__global__ void without_fences(volatile int* values, volatile int* flags, int* sum) {
  const int b = blockIdx.x;
  if (b > 0) { values[b] = b; flags[b] = 1; return; }
  for (int k = 1; k < gridDim.x; ++k) { while (flags[k] == 0) {} *sum += values[k]; }
}
__global__ void with_fences(volatile int* values, volatile int* flags, int* sum) {
  const int b = blockIdx.x;
  if (b > 0) { values[b] = b; __threadfence(); flags[b] = 1; return; }
  for (int k = 1; k < gridDim.x; ++k) { while (flags[k] == 0) {} __threadfence(); *sum += values[k]; }
}
__global__ void one_word(int* values, volatile int* flags, int* sum) {
  const int b = blockIdx.x;
  if (b > 0) { flags[b] = b; return; }
  for (int k = 1, seen; k < gridDim.x; ++k) { do seen = flags[k]; while (seen == 0); *sum += seen; }
}
__global__ void plainly(int* values, int* flags, int* sum) {
  const int b = blockIdx.x;
  if (b > 0) { atomicExch(&flags[b], b); return; }
  for (int k = 1; k < gridDim.x; ++k) {
    int seen;
    do asm volatile("ld.global.ca.s32 %0, [%1];" : "=r"(seen) : "l"(flags + k)); while (seen == 0);
    *sum += seen;
  }
}
__global__ void hints(int* values, int* flags, int* sum) {
  for (int k = 0; k < 4; ++k)
    if (flags[0] < 1 + (int)blockIdx.x) atomicMax(flags, 1 + (int)blockIdx.x);
  if (threadIdx.x == 0 && atomicAdd(&flags[1], 1) == gridDim.x - 1) *sum = 3 + atomicAdd(flags, 0);
})";

Update old_values(std::string kernel, Order order) {
  Emulation run(kOld, {kernel});
  const auto values = run.output<int>("values", 4), flags = run.output<int>("flags", 4);
  const auto sum = run.output<int>("sum", 1);
  run.launch(0, {4, 1, 1}, {1, 1, 1}, {values, flags, sum});
  run.job.work_limit = 1'000'000;
  Update update{run.run(order), 0};
  update.sum = run.values<int>(sum)[0];
  return update;
}

TEST(SideBySide, AReadMayFindWhatWasThereBefore) {
  EXPECT_EQ(old_values("without_fences", Order::kForward).sum, 6);
  EXPECT_NE(old_values("without_fences", Order::kLockstep).sum, 6);
  const Update plainly = old_values("plainly", Order::kLockstep);
  ASSERT_TRUE(plainly.result.fault);
  EXPECT_EQ(plainly.result.fault->kind, FaultKind::kWorkLimit);
  for (const char* kernel : {"with_fences", "one_word"}) {
    for (const Order order : {Order::kForward, Order::kLockstep, Order::kDrawn}) {
      const Update right = old_values(kernel, order);
      EXPECT_FALSE(right.result.fault) << kernel;
      EXPECT_EQ(right.sum, 6) << kernel;
    }
  }
  EXPECT_EQ(old_values("hints", Order::kLockstep).sum, 7);
}

// Blocks for which there is no room side by side, and more work than is done so.
TEST(SideBySide, LargeGridsEndBlockAfterBlock) {
  constexpr std::uint32_t kBlocks = 3000;
  Emulation run(R"(
__global__ void count(int* counts, int* done) {
  for (int i = 0; i < 100; ++i) counts[blockIdx.x * blockDim.x + threadIdx.x] += 1;
  __syncthreads();
  if (threadIdx.x == 0) atomicAdd(done, 1);
})",
                {"count"});
  const auto counts = run.output<int>("counts", kBlocks * 64), done = run.output<int>("done", 1);
  run.launch(0, {kBlocks, 1, 1}, {64, 1, 1}, {counts, done});
  for (const Order order : {Order::kLockstep, Order::kDrawn}) EXPECT_FALSE(run.run(order).fault);
  EXPECT_EQ(run.values<int>(counts), std::vector<int>(kBlocks * 64, 200));
  EXPECT_EQ(run.values<int>(done)[0], 2 * static_cast<int>(kBlocks));
}

// Two locks in two orders: each block has one of them, and waits for the other.
constexpr std::string_view kLocks = R"(
__device__ void take(int* locks, int first) {
  while (atomicCAS(&locks[first], 0, 1) != 0) {}
  while (atomicCAS(&locks[1 - first], 0, 1) != 0) {}
  atomicExch(&locks[1 - first], 0);
  atomicExch(&locks[first], 0);
}
__global__ void in_two_orders(int* locks) { take(locks, blockIdx.x % 2); }
__global__ void in_one_order(int* locks) { take(locks, 0); })";

TEST(SideBySide, ADeadlockIsFound) {
  Emulation right(kLocks, {"in_one_order"});
  right.launch(0, {2, 1, 1}, {1, 1, 1}, {right.output<int>("locks", 2)});
  constexpr Order kOrders[] = {Order::kForward, Order::kReversed, Order::kLockstep};
  for (const Order order : kOrders) EXPECT_FALSE(right.run(order).fault);
  Emulation wrong(kLocks, {"in_two_orders"});
  wrong.launch(0, {2, 1, 1}, {1, 1, 1}, {wrong.output<int>("locks", 2)});
  for (const Order order : kOrders) {
    const Result result = wrong.run(order);
    ASSERT_TRUE(result.fault);
    EXPECT_EQ(result.fault->kind, FaultKind::kDeadlock);
  }
}

}  // namespace
}  // namespace krl::machine
