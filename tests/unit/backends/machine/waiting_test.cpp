// Warps and blocks that wait for each other: who may run, what it costs, and when it is a deadlock.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/unit/backends/machine/emulation.hpp"

namespace krl::machine {
namespace {

using ::testing::HasSubstr;

constexpr std::string_view kWaits = R"(
__global__ void meet(int* arrived) {
  if (threadIdx.x != 0) return;
  atomicAdd(arrived, 1);
  while (*(volatile int*)arrived != gridDim.x) {}
}
__global__ void chain(int* values) {
  int value = 0;
  if (blockIdx.x > 0) while ((value = ((volatile int*)values)[blockIdx.x - 1]) == 0) {}
  ((volatile int*)values)[blockIdx.x] = value + 1;
}
__global__ void gives_up(int* values) {
  int tries = 0;
  while (((volatile int*)values)[0] == 0 && tries < 20000) ++tries;
  values[1 + blockIdx.x] = tries;
}
__global__ void queue(int* next, int* taken) {
  while (atomicAdd(next, 1) < 400) taken[blockIdx.x] += 1;
}
__global__ void warps_queue(int* taken) {
  __shared__ int next;
  if (threadIdx.x == 0) next = 0;
  __syncthreads();
  if (threadIdx.x % 32 != 0) return;
  while (atomicAdd(&next, 1) < 100) taken[threadIdx.x / 32] += 1;
}
__global__ void warps_wait(int* out) {
  __shared__ volatile int turn;
  if (threadIdx.x == 0) turn = 0;
  __syncthreads();
  if (threadIdx.x % 32 != 0) return;
  while (turn != threadIdx.x / 32) {}
  __threadfence_block();
  for (int k = 0; k < 1000; ++k) out[k] += k;
  __threadfence_block();
  turn = threadIdx.x / 32 + 1;
}
__global__ void lanes_wait(int* lock, int* sum) {
  while (atomicCAS(lock, 0, 1) != 0) {}
  __threadfence();
  *(volatile int*)sum = *(volatile int*)sum + 1;
  __threadfence();
  atomicExch(lock, 0);
})";

Result wait(const std::string& kernel, std::uint32_t blocks, std::uint32_t resident,
            Order order = Order::kForward) {
  Emulation run(kWaits, {kernel});
  run.launch(0, {blocks, 1, 1}, {32, 1, 1}, {run.output<int>("values", 1000)}, 0, resident);
  return run.run(order);
}

TEST(Waiting, BlocksThatDoNotFitAreNotWaitedFor) {
  EXPECT_FALSE(wait("meet", 6, 6).fault);
  EXPECT_FALSE(wait("meet", 6, 0).fault);
  const Result result = wait("meet", 6, 5);
  ASSERT_TRUE(result.fault);
  EXPECT_EQ(result.fault->kind, FaultKind::kDeadlock);
  EXPECT_THAT(result.fault->message,
              HasSubstr("5 resident blocks wait for blocks that do not fit"));
  EXPECT_EQ(result.fault->line, 5u);
}

TEST(Waiting, BlocksWithLowerNumbersAreStartedFirst) {
  for (const Order order : {Order::kForward, Order::kReversed, Order::kShuffled})
    EXPECT_FALSE(wait("chain", 50, 2, order).fault);
}

TEST(Waiting, ALoopThatEndsByItselfIsNoDeadlock) {
  const Result result = wait("gives_up", 6, 2);
  EXPECT_FALSE(result.fault) << result.fault->message;
}

TEST(Waiting, CostsNoWork) {
  Emulation run(kWaits, {"warps_wait"});
  run.launch(0, {1, 1, 1}, {256, 1, 1}, {run.output<int>("out", 1000)});
  const Result result = run.run();
  ASSERT_FALSE(result.fault) << result.fault->message;
  const Counters& counters = result.runs.at(0).at(0).counters;
  EXPECT_LT(counters.instructions, 8u * 12'000);
  EXPECT_GT(counters.critical.waits, 7u * 1000) << "one warp after another";
}

// With some of these numbers of rounds a turn of the block ends as its last warp arrives.
TEST(Waiting, ATurnMayEndAtABarrier) {
  Emulation run(R"(
__global__ void count(int* out, int rounds) {
  int sum = ((volatile int*)out)[threadIdx.x];
  for (int k = 0; k < rounds; ++k) sum = sum * 5 ^ k;
  __syncthreads();
  out[threadIdx.x] = sum + 1;
})",
                {"count"});
  const auto out = run.output<int>("out", 64);
  for (int rounds = 100; rounds <= 3000; rounds += 100)
    run.launch(0, {1, 1, 1}, {64, 1, 1}, {out, rounds});
  const Result result = run.run();
  EXPECT_FALSE(result.fault) << result.fault->message;
}

TEST(Waiting, LanesOfAWarpWaitForEachOther) {
  Emulation run(kWaits, {"lanes_wait"});
  const auto lock = run.output<int>("lock", 1), sum = run.output<int>("sum", 1);
  run.launch(0, {4, 1, 1}, {64, 1, 1}, {lock, sum}, 0, 4);
  const Result result = run.run();
  ASSERT_FALSE(result.fault) << result.fault->message;
  EXPECT_EQ(run.values<int>(sum)[0], 256);
}

void expect_equal_shares(const std::vector<int>& taken, int all) {
  int sum = 0;
  for (const int share : taken) sum += share;
  EXPECT_EQ(sum, all);
  const auto [least, most] = std::minmax_element(taken.begin(), taken.end());
  EXPECT_LE(*most, *least + 4);
}

TEST(Waiting, BlocksAndWarpsShareAQueue) {
  Emulation blocks(kWaits, {"queue"});
  const auto next = blocks.output<int>("next", 1), taken = blocks.output<int>("taken", 8);
  blocks.launch(0, {8, 1, 1}, {1, 1, 1}, {next, taken}, 0, 8);
  ASSERT_FALSE(blocks.run().fault);
  expect_equal_shares(blocks.values<int>(taken), 400);

  Emulation warps(kWaits, {"warps_queue"});
  const auto of_warps = warps.output<int>("taken", 4);
  warps.launch(0, {1, 1, 1}, {128, 1, 1}, {of_warps});
  ASSERT_FALSE(warps.run().fault);
  expect_equal_shares(warps.values<int>(of_warps), 100);
}

TEST(Waiting, AChainTakesAsLongAsItsHandOvers) {
  const auto span = [](std::uint32_t blocks) {
    const Result result = wait("chain", blocks, 4);
    return static_cast<double>(result.runs.at(0).at(0).counters.span_clocks);
  };
  const double l2 = Job().path_clocks[3];
  EXPECT_GT(span(100) - span(50), 50 * l2);
  EXPECT_LT(span(100) - span(50), 50 * 4 * l2);
}

TEST(Waiting, AtomicsOnSharedMemoryAreCountedByType) {
  const auto count = [](const std::string& type, const std::string& index) {
    Emulation run("__global__ void k(" + type + "* y) { __shared__ " + type +
                      " s[32]; s[threadIdx.x] = 0; __syncthreads(); atomicAdd(&s[" + index +
                      "], (" + type +
                      ")threadIdx.x); __syncthreads(); y[threadIdx.x] = s[threadIdx.x]; }",
                  {"k"});
    run.launch(0, {1, 1, 1}, {32, 1, 1}, {run.output<double>("y", 32)});
    return run.run().runs.at(0).at(0).counters;
  };
  const Counters integers = count("unsigned", "threadIdx.x / 16");
  EXPECT_EQ(integers.shared_atomic_repeats, 15u);
  EXPECT_EQ(integers.shared_atomic_loops, 0u);
  for (const char* type : {"float", "double", "unsigned long long"}) {
    const Counters loops = count(type, "threadIdx.x / 16");
    EXPECT_EQ(loops.shared_atomic_loops, 16u) << type;
    EXPECT_EQ(loops.critical.loop_turns, 16u) << type;
    EXPECT_EQ(count(type, "threadIdx.x").critical.loop_turns, 1u) << type;
  }
}

}  // namespace
}  // namespace krl::machine
