// Lanes that part and meet again, wait for each other, and threads that wait for other warps and
// blocks.
#include <gtest/gtest.h>

#include <numeric>

#include "tests/unit/backends/machine/emulation.hpp"

namespace krl::machine {
namespace {

constexpr Order kOrders[] = {Order::kForward, Order::kReversed, Order::kShuffled};

struct LaunchShape {
  std::uint32_t blocks = 1, threads = 32;
};

// What a kernel k(int* y, int n) leaves in y of n elements, which begin as 0; `source` is all of
// it.
std::vector<int> values_of(const std::string& source, std::size_t n, LaunchShape shape = {},
                           Order order = Order::kForward) {
  Emulation emulation(source, {"k"});
  EXPECT_EQ(emulation.compile_log(), "");
  emulation.job.seed = 4711;
  const auto y = emulation.output<int>("y", n);
  emulation.launch(0, {shape.blocks, 1, 1}, {shape.threads, 1, 1},
                   {y, static_cast<std::int32_t>(n)});
  const Result result = emulation.run(order);
  EXPECT_FALSE(result.fault) << result.fault->message << " in line " << result.fault->line;
  return emulation.values<int>(y);
}

// … where `body` is that of k, and t, lane the thread's place.
std::vector<int> run(const std::string& body, std::size_t n = 32, LaunchShape shape = {},
                     Order order = Order::kForward) {
  return values_of(
      "__global__ void k(int* y, int n) { int t = threadIdx.x, lane = t % 32;\n" + body + "\n}", n,
      shape, order);
}

Result result_of(const std::string& source, LaunchShape shape) {
  Emulation emulation(source, {"k"});
  EXPECT_EQ(emulation.compile_log(), "");
  const auto y = emulation.output<int>("y", 1024);
  emulation.launch(0, {shape.blocks, 1, 1}, {shape.threads, 1, 1}, {y});
  return emulation.run();
}

template <class Value>
std::vector<int> each(std::size_t n, Value value) {
  std::vector<int> values(n);
  for (std::size_t i = 0; i < n; ++i) values[i] = value(static_cast<int>(i));
  return values;
}

// ---- locks ----

TEST(Divergence, ASpinLockWithinAWarpEnds) {
  for (const Order order : kOrders) {
    const auto y = run(R"(while (atomicCAS(&y[0], 0, 1) != 0) {}
volatile int* v = y; v[1] = v[1] + 1; __threadfence(); atomicExch(&y[0], 0);)",
                       2, {3, 100}, order);
    EXPECT_EQ(y[1], 300);
  }
}

TEST(Divergence, ALaneThatOthersSpinForGoesOn) {
  const auto y = run(R"(volatile int* flag = y;
if (lane == 31) {
  flag[0] = 1;
} else {
  while (flag[0] == 0) {}
  flag[1 + lane] = lane;
})");
  EXPECT_EQ(y[0], 1);
  EXPECT_EQ(y[31], 30);
}

TEST(Divergence, TicketsAreServedInTheirOrder) {
  const auto y = run(R"(int ticket = atomicAdd(&y[0], 1);
while (atomicAdd(&y[1], 0) != ticket) {}
volatile int* v = y;
v[2] = v[2] * 3 + 1;
__threadfence();
atomicAdd(&y[1], 1);)",
                     3, {2, 64});
  unsigned expected = 0;
  for (int i = 0; i < 128; ++i) expected = expected * 3 + 1;
  EXPECT_EQ(static_cast<unsigned>(y[2]), expected);
}

TEST(Divergence, BlocksMayWaitForEachOtherInEveryOrder) {
  for (const Order order : kOrders) {
    // Each block waits for the one before it: decoupled look-back.
    const auto y =
        run("volatile int* v = y; int b = blockIdx.x; if (t == 0) { int sum = 0;"
            "if (b > 0) { while (v[64 + b - 1] == 0) {} __threadfence(); sum = v[b - 1]; }"
            "v[b] = sum + b; __threadfence(); v[64 + b] = 1; }",
            128, {64, 32}, order);
    for (int b = 0; b < 64; ++b) EXPECT_EQ(y[static_cast<std::size_t>(b)], b * (b + 1) / 2);
  }
}

TEST(Divergence, ABarrierOfTheGridBuiltFromAtomicsPasses) {
  for (const Order order : kOrders) {
    const auto y = run(R"(atomicAdd(&y[1 + blockIdx.x], 1);
__threadfence();
__syncthreads();
if (t == 0) {
  atomicAdd(&y[0], 1);
  while (atomicAdd(&y[0], 0) < gridDim.x) {}
}
__syncthreads();
int other = atomicAdd(&y[1 + (blockIdx.x + 1) % gridDim.x], 0);
if (t == 0) atomicAdd(&y[10], other);)",
                       11, {8, 64}, order);
    EXPECT_EQ(y[10], 8 * 64);
  }
}

// ---- control flow ----

TEST(Divergence, LoopsWithBreakContinueAndReturn) {
  const auto y = run(
      R"(int s = 0;
for (int i = 0; i < 20; i++) {
  if (i == lane) break;
  if (i % 3 == 0) continue;
  for (int k = 0;; k++) {
    if (k > i) break;
    if (k == 7 && lane == 30) {
      y[t] = -1;
      return;
    }
    s += k;
  }
}
y[t] = s;)");
  EXPECT_EQ(y, each(32, [](int lane) {
              int s = 0;
              for (int i = 0; i < 20 && i != lane; i++) {
                if (i % 3 == 0) continue;
                for (int k = 0; k <= i; k++) {
                  if (k == 7 && lane == 30) return -1;
                  s += k;
                }
              }
              return s;
            }));
}

TEST(Divergence, LanesMeetAgainBehindABranch) {
  const auto y = run(R"(int v = lane;
if (lane % 2) {
  v *= 3;
  if (lane % 4 == 1) v += 100;
} else v -= 5;
unsigned together = __activemask();
y[t] = together == ~0u ? v : -1000;)");
  EXPECT_EQ(y, each(32, [](int lane) {
              return lane % 2 ? lane * 3 + (lane % 4 == 1 ? 100 : 0) : lane - 5;
            }));
}

TEST(Divergence, LanesOfALoopMeetAgainBehindIt) {
  const auto y = run(R"(volatile int* v = y;
for (int i = 0; i < lane; i++) v[t] = v[t] + i;
unsigned m = __activemask();
if (m != ~0u) v[t] = -1;)");
  EXPECT_EQ(y, each(32, [](int lane) { return lane * (lane - 1) / 2; }));
}

TEST(Divergence, AnEarlyExitLeavesTheOthers) {
  const auto y = run("if (lane % 3 == 0) return; y[t] = __popc(__ballot_sync(__activemask(), 1));");
  EXPECT_EQ(y, each(32, [](int lane) { return lane % 3 == 0 ? 0 : 21; }));
}

TEST(Divergence, SwitchesThroughATable) {
  const auto y = run(
      R"(int v = 0;
switch (lane) {
  case 0: v = 7;
  case 1: v += 3; break;
  case 2: v = atomicAdd(&y[t], 0) + 9; break;
  case 3: v = lane * lane; break;
  case 4: v = -lane;
  case 5: v += 11; break;
  case 6: v = __clz(lane); break;
  case 7: v = n; break;
  default: v = 1;
}
y[t] = v;)");
  EXPECT_EQ(y, each(32, [](int lane) {
              constexpr int kValues[] = {10, 3, 9, 9, 7, 11, 29, 32};
              return lane < 8 ? kValues[lane] : 1;
            }));
}

TEST(Divergence, BranchesThroughATableOfPtx) {
  const auto y = run(
      "int v; asm volatile(\"{ .reg .u32 i; and.b32 i, %1, 3; ts: .branchtargets A, B, C, A;"
      "brx.idx i, ts; A: mov.s32 %0, 10; bra D; B: mov.s32 %0, 20; bra D; C: mov.s32 %0, 30; D: }\""
      " : \"=r\"(v) : \"r\"(lane)); y[t] = v + (__activemask() == ~0u);");
  EXPECT_EQ(y, each(32, [](int lane) {
              constexpr int kValues[] = {11, 21, 31, 11};
              return kValues[lane % 4];
            }));
}

// ---- calls ----

TEST(Divergence, RecursionGoesAsDeepAsEachLaneNeeds) {
  const auto y = values_of(
      R"(__device__ __noinline__ int f(int n) {
  int a[4];
  for (int i = 0; i < 4; i++) a[i] = n + i;
  if (n < 2) return a[n & 3];
  return f(n - 1) + f(n - 2) + a[n & 3] * 0;
}
__global__ void k(int* y, int n) { y[threadIdx.x] = f(threadIdx.x % 12); })",
      32);
  EXPECT_EQ(y, each(32, [](int lane) {
              int a = 0, b = 2;  // f(0) = 0, f(1) = a[1] = 2
              for (int i = 0; i < lane % 12; i++) b = std::exchange(a, b) + b;
              return a;
            }));
}

TEST(Divergence, CallsOnlyOfSomeLanes) {
  const auto y = values_of(
      R"(__device__ __noinline__ int f(int x) {
  int s = 0;
  for (int i = 0; i <= x; i++) s += i;
  return s;
}
__global__ void k(int* y, int n) {
  int t = threadIdx.x;
  int v = -t;
  if (t % 3 == 1) v = f(t);
  else if (t % 3 == 2) v = f(t / 2) + 1;
  y[t] = v;
})",
      32);
  EXPECT_EQ(y, each(32, [](int t) {
              const auto f = [](int x) { return x * (x + 1) / 2; };
              return t % 3 == 1 ? f(t) : t % 3 == 2 ? f(t / 2) + 1 : -t;
            }));
}

TEST(Divergence, IndirectCalls) {
  const auto y = values_of(
      R"(typedef int (*F)(int);
__device__ __noinline__ int twice(int x) { return 2 * x; }
__device__ __noinline__ int square(int x) { return x * x; }
__device__ __noinline__ int negated(int x) { return -x; }
__device__ F table[3] = {twice, square, negated};
__global__ void k(int* y, int n) { int t = threadIdx.x; y[t] = table[t % 3](t); })",
      32);
  EXPECT_EQ(y, each(32, [](int t) { return t % 3 == 0 ? 2 * t : t % 3 == 1 ? t * t : -t; }));
}

TEST(Divergence, VirtualFunctions) {
  const auto y = values_of(
      R"(struct Base {
  __device__ virtual int f(int x) const = 0;
};
struct A : Base {
  int a;
  __device__ A(int a) : a(a) {}
  __device__ int f(int x) const override { return a + x; }
};
struct B : Base {
  int b;
  __device__ B(int b) : b(b) {}
  __device__ int f(int x) const override { return b * x; }
};
__device__ __noinline__ int call(const Base& base, int x) { return base.f(x); }
__global__ void k(int* y, int n) {
  int t = threadIdx.x;
  A a(n);
  B b(3);
  y[t] = call(t % 2 ? (const Base&)a : (const Base&)b, t);
})",
      32);
  EXPECT_EQ(y, each(32, [](int t) { return t % 2 ? 32 + t : 3 * t; }));
}

TEST(Divergence, StructuresByValueAndAsResults) {
  const auto y = values_of(
      R"(struct S {
  char c;
  short s;
  int i;
  long long l;
  int a[5];
};
__device__ __noinline__ S f(S in, int k) {
  S out = in;
  out.c++;
  out.s = in.s * k;
  out.l = in.l - k;
  out.a[k % 5] = in.i;
  return out;
}
__global__ void k(int* y, int n) {
  int t = threadIdx.x;
  S s = {(char)t, (short)(t + 1), t + 2, 1ll << 40, {1, 2, 3, 4, 5}};
  if (t % 2) s = f(s, t);
  y[t] = s.c + s.s + (int)(s.l >> 8) + s.a[t % 5];
})",
      32);
  EXPECT_EQ(y, each(32, [](int t) {
              if (t % 2 == 0) return t + t + 1 + t % 5 + 1;
              return t + 1 + (t + 1) * t - 1 + t + 2;  // (2^40 - t) / 2^8 ends in ones
            }));
}

TEST(Divergence, StructuresAsParametersOfTheKernel) {
  Emulation emulation(
      R"(template <int N>
struct Pair {
  int a, b;
};
__global__ void k(int* y, int n) {
  Pair<3> p = {n, n + 1};
  auto f = [=](int x) { return p.a * x + p.b; };
  y[threadIdx.x] = f(threadIdx.x);
})",
      {"k"});
  const auto y = emulation.output<int>("y", 32);
  emulation.launch(0, {1, 1, 1}, {32, 1, 1}, {y, std::int32_t{5}});
  EXPECT_FALSE(emulation.run().fault);
  EXPECT_EQ(emulation.values<int>(y), each(32, [](int t) { return 5 * t + 6; }));
}

// ---- warp-wide operations ----

TEST(Divergence, ShufflesOfPartOfAWarp) {
  const auto y = run(R"(if (lane < 12) y[t] = __shfl_xor_sync(0xfff, t * 10, 1);
else if (lane >= 20)
  y[t] = __shfl_sync(0xfff00000, t, 25) + __popc(__ballot_sync(0xfff00000, lane & 1));)");
  EXPECT_EQ(y, each(32, [](int t) { return t < 12 ? (t ^ 1) * 10 : t >= 20 ? 25 + 6 : 0; }));
}

// Since Volta, lanes with the same mask meet wherever their code has the operation.
TEST(Divergence, ShufflesAtDifferentPlacesMeet) {
  const auto y = run(
      R"(volatile int* v = y;
if (lane < 16) {
  v[t] = 1;
  int a = __shfl_xor_sync(~0u, t, 16);
  v[t] = a + 1000;
} else {
  v[t] = 2;
  int b = __shfl_xor_sync(~0u, t * 2, 16);
  v[t] = b;
})");
  EXPECT_EQ(y, each(32, [](int t) { return t < 16 ? 2 * (t + 16) + 1000 : t - 16; }));
}

TEST(Divergence, WarpBarriersAtDifferentPlacesMeet) {
  const auto y = run(R"(__shared__ volatile int s[32];
if (lane % 2) {
  s[lane] = lane;
  __syncwarp();
  y[t] = s[lane - 1];
} else {
  s[lane] = 2 * lane;
  __syncwarp();
  y[t] = s[lane + 1];
})");
  EXPECT_EQ(y, each(32, [](int t) { return t % 2 ? 2 * (t - 1) : t + 1; }));
}

TEST(Divergence, ReductionsInALoopThatLanesLeave) {
  const auto y = run(R"(unsigned rest = ~0u;
int s = 0;
for (int i = 0; i <= lane; i++) {
  rest = __ballot_sync(rest, true) & ~((1u << i) - 1);
  s += __reduce_add_sync(rest, 1);
}
y[t] = s;)");
  EXPECT_EQ(y, each(32, [](int lane) {
              int s = 0;
              for (int i = 0; i <= lane; ++i) s += 32 - i;
              return s;
            }));
}

TEST(Divergence, LanesThatHaveEndedAreNotWaitedFor) {
  const auto y = run(
      "if (lane >= 24) return; y[t] = __shfl_xor_sync(~0u, t, 1) + __all_sync(~0u, lane < 24);");
  EXPECT_EQ(y, each(32, [](int t) { return t < 24 ? (t ^ 1) + 1 : 0; }));
}

TEST(Divergence, MatchesGroupLanes) {
  const auto y = run(
      R"(unsigned m = __match_any_sync(~0u, lane % 5);
int leader = __ffs(m) - 1;
int base = 0;
if (lane == leader) base = atomicAdd(&y[40 + lane], __popc(m));
base = __shfl_sync(m, base, leader);
y[t] = base + __popc(m & ((1u << lane) - 1));)",
      48);
  for (int t = 0; t < 32; ++t) EXPECT_EQ(y[static_cast<std::size_t>(t)], t / 5);
  EXPECT_EQ(y[40], 7);
}

TEST(Divergence, OneLaneIsElected) {
  const auto y = run(R"(if (lane >= 4) {
  unsigned who, p;
  asm volatile("{.reg .pred p; elect.sync %0|p, %2; selp.u32 %1, 1, 0, p;}"
               : "=r"(who), "=r"(p)
               : "r"(0xfffffff0));
  y[t] = who * 10 + p;
})");
  EXPECT_EQ(y, each(32, [](int t) { return t < 4 ? 0 : t == 4 ? 41 : 40; }));
}

// ---- barriers ----

TEST(Divergence, NamedBarriersBetweenProducersAndConsumers) {
  for (const Order order : kOrders) {
    const auto y = run(R"(__shared__ int s[64];
for (int i = 0; i < 4; i++) {
  if (t < 64) {
    if (i > 0) asm volatile("bar.sync 2, 128;" ::: "memory");
    s[t] = t * 10 + i;
    asm volatile("bar.arrive 1, 128;" ::: "memory");
  } else {
    asm volatile("bar.sync 1, 128;" ::: "memory");
    y[t] += s[127 - t];
    if (i < 3) asm volatile("bar.arrive 2, 128;" ::: "memory");
  }
})",
                       128, {1, 128}, order);
    EXPECT_EQ(y, each(128, [](int t) { return t < 64 ? 0 : 40 * (127 - t) + 6; }));
  }
}

TEST(Divergence, BarriersOfHalfABlock) {
  const auto y = run(R"(__shared__ int s[128];
s[t] = t;
if (t < 64) {
  asm volatile("bar.sync 1, 64;" ::: "memory");
  y[t] = s[63 - t];
} else {
  asm volatile("barrier.sync 2, 64;" ::: "memory");
  y[t] = s[191 - t];
})",
                     128, {1, 128});
  EXPECT_EQ(y, each(128, [](int t) { return t < 64 ? 63 - t : 191 - t; }));
}

TEST(Divergence, BarriersThatCount) {
  const auto y = run(
      R"(int c = __syncthreads_count(t % 3 == 0), a = __syncthreads_and(t < 90),
    o = __syncthreads_or(t == 89), b = __syncthreads_and(t < 89);
y[t] = c * 8 + a * 4 + o * 2 + b;)",
      96, {1, 90});
  EXPECT_EQ(y, each(96, [](int t) { return t < 90 ? 30 * 8 + 6 : 0; }));
}

TEST(Divergence, LanesOfAWarpMeetAtABarrier) {
  const auto y = run(R"(__shared__ int s[64];
volatile int* v = y;
for (int i = 0; i < lane; i++) v[t] = i;
s[t] = t;
__syncthreads();
v[t] = s[63 - t];)",
                     64, {1, 64});
  EXPECT_EQ(y, each(64, [](int t) { return 63 - t; }));
}

TEST(Divergence, ThreadsThatHaveEndedAreNoPartOfABarrier) {
  const auto y = run(
      R"(__shared__ int s[64];
if (t >= 50) return;
s[t] = t;
__syncthreads();
y[t] = s[49 - t] + __syncthreads_count(1);)",
      64, {1, 64});
  EXPECT_EQ(y, each(64, [](int t) { return t < 50 ? 49 - t + 50 : 0; }));
}

// Unrolled, in one line: threads that leave at different rounds wait at copies of one barrier.
TEST(Divergence, CopiesOfABarrierAreOne) {
  const auto y = run(R"(
#pragma unroll
for (int r = 0; r < 4; ++r) { if (t % 5 <= r) break; y[t] += 1; __syncthreads(); }
y[t] += 10;)",
                     64, {1, 64});
  EXPECT_EQ(y, each(64, [](int t) { return t % 5 + 10; }));
}

TEST(Divergence, WaitingForAThreadThatNeverComesIsAFault) {
  const Result result = result_of(
      R"(__global__ void k(int* y) {
  if (threadIdx.x < 64)
    asm volatile("bar.sync 1, 96;");
  y[0] = 1;
})",
      {1, 96});
  ASSERT_TRUE(result.fault);
  EXPECT_EQ(result.fault->kind, FaultKind::kDivergentBarrier);
  EXPECT_EQ(result.fault->line, 3u);
}

TEST(Divergence, AWarpOperationThatMembersDoNotReachIsAFault) {
  const Result result = result_of(
      R"(__global__ void k(int* y) {
  if (threadIdx.x < 16)
    y[threadIdx.x] = __shfl_sync(~0u, y[32], 0);
  else
    __syncthreads();
})",
      {1, 64});
  ASSERT_TRUE(result.fault);
  EXPECT_EQ(result.fault->kind, FaultKind::kDivergentBarrier);
  EXPECT_EQ(result.fault->line, 3u) << result.fault->message;
}

}  // namespace
}  // namespace krl::machine
