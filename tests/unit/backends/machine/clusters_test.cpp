// Clusters: their barrier, shared memory of other blocks, and what is wrong with both.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "tests/unit/backends/machine/emulation.hpp"

namespace krl::machine {
namespace {

using ::testing::HasSubstr;

constexpr Order kClusterOrders[] = {Order::kForward, Order::kReversed, Order::kShuffled,
                                    Order::kLockstep, Order::kDrawn};

// Kernels are k(const int* x, int* y, int n): x, of 1024 elements, counts up; y has as many; unless
// said otherwise, 8 blocks of 128 threads, in clusters of 4.
constexpr char kClusterHead[] = R"(
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
using u32 = unsigned;
__device__ u32 shared_address(const void* p) { return (u32)__cvta_generic_to_shared(p); }
__device__ u32 mapped(const void* p, u32 rank) {
  u32 far;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(far) : "r"(shared_address(p)), "r"(rank));
  return far;
}
__device__ u32 rank_of_block() {
  u32 rank;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}
#define ARRIVE asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory")
#define ARRIVE_RELAXED asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory")
#define WAIT asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory")
#define PLACE \
  const int t = threadIdx.x, i = blockIdx.x * 128 + t; \
  cg::cluster_group cluster = cg::this_cluster(); \
  const int rank = cluster.block_rank();
)";

struct ClusterKernel {
  const char* name;
  const char* body;
  const char* fault = "";  // for wrong ones: a pattern of its message
};

std::string cluster_name(const ::testing::TestParamInfo<ClusterKernel>& info) {
  return info.param.name;
}

struct ClusterOutcome {
  Result result;
  std::vector<int> y;
};

struct ClusterLaunch {
  Dim3 grid = {8, 1, 1};
  std::uint32_t threads = 128, resident = 0;
};

ClusterOutcome run_cluster(Emulation emulation, std::uint32_t kernel, Order order,
                           const ClusterLaunch& launch = {}) {
  EXPECT_FALSE(emulation.job.kernels.empty()) << emulation.compile_log();
  emulation.job.seed = 12345;
  std::vector<int> values(1024);
  std::iota(values.begin(), values.end(), 0);
  const auto x = emulation.input<int>("x", values);
  const auto y = emulation.output<int>("y", 1024, -1);
  emulation.launch(kernel, launch.grid, {launch.threads, 1, 1}, {x, y, 1024}, 1024,
                   launch.resident);
  ClusterOutcome outcome{emulation.run(order), {}};
  outcome.y = emulation.values<int>(y);
  return outcome;
}

ClusterOutcome run_cluster(const std::string& source, Order order,
                           const ClusterLaunch& launch = {}) {
  return run_cluster(Emulation(kClusterHead + source, {"k"}), 0, order, launch);
}

// One of several kernels, which are compiled at once.
ClusterOutcome run_one(std::span<const ClusterKernel> kernels, const std::string& name,
                       Order order) {
  std::string source = kClusterHead;
  std::vector<std::string> names;
  std::uint32_t place = 0;
  for (const ClusterKernel& kernel : kernels) {
    if (kernel.name == name) place = static_cast<std::uint32_t>(names.size());
    names.emplace_back(kernel.name);
    source += "__global__ void __cluster_dims__(4, 1, 1) " + names.back() +
              "(const int* x, int* y, int n) " + kernel.body + "\n";
  }
  return run_cluster(Emulation(source, names), place, order);
}

// Each writes i ^ 128 to y[i], often as it found it in another block.
constexpr ClusterKernel kRightClusters[] = {
    ClusterKernel{"exchange", R"({ PLACE
  __shared__ int mine[128];
  mine[t] = x[i];
  cluster.sync();
  y[i] = cluster.map_shared_rank(mine, rank ^ 1)[t];
  cluster.sync();
})"},
    ClusterKernel{"exchange_in_ptx", R"({
  __shared__ int mine[128];
  const int t = threadIdx.x, i = blockIdx.x * 128 + t;
  mine[t] = x[i];
  ARRIVE; WAIT;
  int value;
  asm volatile("ld.shared::cluster.s32 %0, [%1];"
               : "=r"(value) : "r"(mapped(mine, rank_of_block() ^ 1) + 4 * t) : "memory");
  y[i] = value;
  ARRIVE; WAIT;
})"},
    ClusterKernel{"store_into_neighbour", R"({ PLACE
  __shared__ int theirs[128];
  cluster.sync();
  cluster.map_shared_rank(theirs, rank ^ 1)[t] = x[i];
  cluster.sync();
  y[i] = theirs[t];
})"},
    ClusterKernel{"bytes", R"({ PLACE
  __shared__ char mine[2][128];
  mine[0][t] = x[i] & 127;
  cluster.sync();
  cluster.map_shared_rank(mine[1], rank ^ 1)[t] = cluster.map_shared_rank(mine[0], rank ^ 1)[127 - t];
  cluster.sync();
  const bool right = mine[1][t] == mine[0][127 - t] && mine[0][t] == t;
  y[i] = right ? i ^ 128 : -2;
})"},
    ClusterKernel{"split_barrier", R"({ PLACE
  __shared__ int mine[128];
  mine[t] = x[i];
  auto token = cluster.barrier_arrive();
  const int other = x[(i + 1) % n];
  cluster.barrier_wait(std::move(token));
  y[i] = cluster.map_shared_rank(mine, rank ^ 1)[t] + 0 * other;
  ARRIVE_RELAXED;
  WAIT;
})"},
    ClusterKernel{"registers", R"({ PLACE
  u32 id, ids, ctaid, nctaid, ranks;
  asm("mov.u32 %0, %%clusterid.x;" : "=r"(id));
  asm("mov.u32 %0, %%nclusterid.x;" : "=r"(ids));
  asm("mov.u32 %0, %%cluster_ctaid.x;" : "=r"(ctaid));
  asm("mov.u32 %0, %%cluster_nctaid.x;" : "=r"(nctaid));
  asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(ranks));
  u32 is_explicit;
  asm("{ .reg .pred p; mov.pred p, %%is_explicit_cluster; selp.u32 %0, 1, 0, p; }" : "=r"(is_explicit));
  const bool right = id == blockIdx.x / 4 && ids == 2 && ctaid == blockIdx.x % 4 && nctaid == 4 &&
                     ranks == 4 && is_explicit == 1 && rank == ctaid && cluster.num_threads() == 512;
  y[i] = right ? i ^ 128 : -2;
})"},
    ClusterKernel{"addresses", R"({ PLACE
  __shared__ int mine[128];
  int* const theirs = cluster.map_shared_rank(mine, rank ^ 1);
  int* const own = cluster.map_shared_rank(mine, rank);
  u32 rank_there, rank_here, back;
  const u32 far = mapped(mine + 5, rank ^ 1);
  asm("getctarank.shared::cluster.u32 %0, %1;" : "=r"(rank_there) : "r"(far));
  asm("getctarank.u64 %0, %1;" : "=r"(rank_here) : "l"(mine));
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(back) : "r"(far), "r"(rank));
  u32 in_cta, in_cluster;
  asm("{ .reg .pred p; isspacep.shared::cta p, %1; selp.u32 %0, 1, 0, p; }" : "=r"(in_cta) : "l"(theirs));
  asm("{ .reg .pred p; isspacep.shared::cluster p, %1; selp.u32 %0, 1, 0, p; }" : "=r"(in_cluster) : "l"(theirs));
  size_t generic;
  asm("{ .reg .u64 a; cvt.u64.u32 a, %1; cvta.shared::cluster.u64 %0, a; }" : "=l"(generic) : "r"(far));
  own[t] = x[i];
  __syncthreads();
  int value;
  asm volatile("ld.shared::cluster.s32 %0, [%1];" : "=r"(value) : "r"(back) : "memory");
  const bool right = rank_there == (rank ^ 1) && rank_here == rank && in_cta == 0 && in_cluster == 1 &&
                     generic == (size_t)(theirs + 5) && value == blockIdx.x * 128 + 5 &&
                     mine[t ^ 1] == i - t + (t ^ 1) && cluster.query_shared_rank(theirs) == (rank ^ 1);
  y[i] = right ? i ^ 128 : -2;
})"},
    // Each block hands what it has on to the next, until all are where they began.
    ClusterKernel{"ring", R"({ PLACE
  __shared__ int slot[2][128];
  slot[0][t] = x[i];
  cluster.sync();
  for (int step = 0; step < 5; ++step) {
    int* const next = cluster.map_shared_rank(slot[(step + 1) % 2], (rank + 1) % 4);
    next[t] = slot[step % 2][t];
    cluster.sync();
  }
  const int from = slot[1][t];  // of rank - 5
  y[i] = from / 128 % 4 == (rank + 3) % 4 && from % 128 == t ? i ^ 128 : -2;
})"},
    ClusterKernel{"histogram", R"({ PLACE
  __shared__ int bins[32];
  if (t < 32) bins[t] = 0;
  cluster.sync();
  const int bin = x[i] * 7 % 128;
  atomicAdd(cluster.map_shared_rank(bins, bin / 32) + bin % 32, 1);
  cluster.sync();
  y[i] = bins[t % 32] == 4 ? i ^ 128 : -bins[t % 32];
})"},
    ClusterKernel{"layernorm", R"({ PLACE
  __shared__ float part[2], warps[2][4];
  float sums[2] = {(float)(x[i] % 512), (float)(x[i] % 512) * (x[i] % 512)};
  for (int s = 0; s < 2; ++s) {
    for (int d = 16; d > 0; d /= 2) sums[s] += __shfl_down_sync(~0u, sums[s], d);
    if (t % 32 == 0) warps[s][t / 32] = sums[s];
  }
  __syncthreads();
  if (t < 2) part[t] = warps[t][0] + warps[t][1] + warps[t][2] + warps[t][3];
  cluster.sync();
  float sum = 0, squares = 0;
  for (int r = 0; r < 4; ++r) {
    sum += cluster.map_shared_rank(part, r)[0];
    squares += cluster.map_shared_rank(part, r)[1];
  }
  cluster.sync();
  const float mean = sum / 512, variance = squares / 512 - mean * mean;
  y[i] = mean == 255.5f && fabsf(variance - 21845.25f) < 1 ? i ^ 128 : -2;
})"},
    // As above, with one thread of each block that stores into the first block, no barrier before.
    ClusterKernel{"sums_at_the_first", R"({ PLACE
  __shared__ int warps[4], parts[4];
  int sum = x[i] % 512;
  for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(~0u, sum, d);
  if (t % 32 == 0) warps[t / 32] = sum;
  __syncthreads();
  if (t == 0) {
    for (int w = 1; w < 4; ++w) sum += warps[w];
    cluster.map_shared_rank(parts, 0)[rank] = sum;
  }
  cluster.sync();
  const bool right = rank != 0 || parts[0] + parts[1] + parts[2] + parts[3] == 511 * 256;
  y[i] = right ? i ^ 128 : -2;
})"},
    // Warps that arrive and do other work before they wait, beside others that wait at once.
    ClusterKernel{"some_overlap", R"({ PLACE
  __shared__ int mine[128], own[4];
  mine[t] = x[i];
  if (t < 64) {
    ARRIVE;
    if (t % 32 == 0) own[t / 32] = t;
    __syncwarp();
    WAIT;
  } else {
    ARRIVE;
    WAIT;
  }
  y[i] = cluster.map_shared_rank(mine, rank ^ 1)[t];
  cluster.sync();
  mine[t ^ 32] = own[t / 64];
  cluster.sync();
})"},
    // Each lane of a warp at another block, by every width.
    ClusterKernel{"lanes_apart", R"({ PLACE
  __shared__ __align__(16) int mine[128];
  mine[t] = x[i];
  cluster.sync();
  const int4 four = ((const int4*)cluster.map_shared_rank(mine, t % 4))[t / 4];
  const long long two = ((const long long*)cluster.map_shared_rank(mine, (t + 1) % 4))[t / 2];
  const short half = ((const short*)cluster.map_shared_rank(mine, (t + 2) % 4))[t];
  const int first = (blockIdx.x / 4 * 4) * 128;
  const bool right = four.z == first + t % 4 * 128 + t / 4 * 4 + 2 &&
                     (int)(two >> 32) == first + (t + 1) % 4 * 128 + t / 2 * 2 + 1 &&
                     half == (t % 2 ? 0 : first + (t + 2) % 4 * 128 + t / 2);
  cluster.sync();
  y[i] = right ? i ^ 128 : -2;
})"},
    // The last to arrive of all warps, with a counter in the first block.
    ClusterKernel{"last_of_the_cluster", R"({ PLACE
  __shared__ int data[512];
  __shared__ u32 count;
  if (t == 0) count = 0;
  cluster.sync();
  cluster.map_shared_rank(data, 0)[rank * 128 + t] = x[i];
  __threadfence();
  __syncthreads();
  __shared__ u32 before;
  if (t == 0) before = atomicAdd(cluster.map_shared_rank(&count, 0), 1);
  __syncthreads();
  bool right = true;
  if (before == 3) {
    __threadfence();
    for (int r = 0; r < 4; ++r)
      right &= cluster.map_shared_rank(data, 0)[r * 128 + t] == blockIdx.x / 4 * 512 + r * 128 + t;
  }
  cluster.sync();
  y[i] = right ? i ^ 128 : -2;
})"},
    // Threads that have ended count as having arrived.
    ClusterKernel{"some_end_early", R"({ PLACE
  __shared__ int mine[128];
  mine[t] = x[i];
  cluster.sync();
  const int other = cluster.map_shared_rank(mine, rank ^ 1)[t];
  y[i] = other;
  if (t >= 64 && rank == 2) { ARRIVE; return; }
  cluster.sync();
})"},
    // A flag in another block's shared memory, released and acquired.
    ClusterKernel{"flag", R"({ PLACE
  __shared__ int theirs[128];
  __shared__ u32 flag;
  if (t == 0) flag = 0;
  cluster.sync();
  cluster.map_shared_rank(theirs, rank ^ 1)[t] = x[i];
  __syncthreads();
  if (t == 0) {
    asm volatile("fence.acq_rel.cluster;\n st.relaxed.cluster.shared::cluster.u32 [%0], 1;"
                 :: "r"(mapped(&flag, rank ^ 1)) : "memory");
    u32 seen;
    do asm volatile("ld.acquire.cluster.shared::cta.u32 %0, [%1];" : "=r"(seen) : "r"(shared_address(&flag)) : "memory");
    while (seen == 0);
  }
  __syncthreads();
  y[i] = theirs[t];
})"},
    // Each thread arrives at a barrier of the other block once it has written there.
    ClusterKernel{"remote_mbarrier", R"({ PLACE
  __shared__ int theirs[128];
  __shared__ unsigned long long bar;
  if (t == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 128;" :: "r"(shared_address(&bar)) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  ARRIVE_RELAXED; WAIT;
  __syncthreads();
  asm volatile("st.shared::cluster.s32 [%0], %1;" :: "r"(mapped(theirs + t, rank ^ 1)), "r"(x[i]) : "memory");
  asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" :: "r"(mapped(&bar, rank ^ 1)) : "memory");
  u32 done;
  do asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }"
                  : "=r"(done) : "r"(shared_address(&bar)) : "memory");
  while (done == 0);
  y[i] = theirs[t];
})"}};

class RightCluster : public ::testing::TestWithParam<ClusterKernel> {};
TEST_P(RightCluster, GivesTheSameInAllOrders) {
  for (const Order order : kClusterOrders) {
    const ClusterOutcome outcome = run_one(kRightClusters, GetParam().name, order);
    ASSERT_FALSE(outcome.result.launch_error) << outcome.result.launch_error->message;
    ASSERT_FALSE(outcome.result.fault)
        << static_cast<int>(order) << " " << outcome.result.fault->message << " in line "
        << outcome.result.fault->line;
    for (int i = 0; i < 1024; ++i)
      ASSERT_EQ(outcome.y[static_cast<std::size_t>(i)], i ^ 128) << static_cast<int>(order);
  }
}
INSTANTIATE_TEST_SUITE_P(Kernels, RightCluster, ::testing::ValuesIn(kRightClusters), cluster_name);

constexpr ClusterKernel kWrongClusters[] = {
    ClusterKernel{"read_without_barrier", R"({ PLACE
  __shared__ int mine[128];
  mine[t] = x[i];
  __syncthreads();
  y[i] = cluster.map_shared_rank(mine, rank ^ 1)[t];
  cluster.sync();
})",
                  "nothing orders the two blocks|no thread of the block has written it"},
    ClusterKernel{"relaxed_arrival", R"({ PLACE
  __shared__ int mine[128];
  mine[t] = x[i];
  ARRIVE_RELAXED; WAIT;
  y[i] = cluster.map_shared_rank(mine, rank ^ 1)[t];
  cluster.sync();
})",
                  "nothing orders the two blocks"},
    ClusterKernel{"read_before_wait", R"({ PLACE
  __shared__ int mine[128];
  mine[t] = x[i];
  ARRIVE;
  y[i] = cluster.map_shared_rank(mine, rank ^ 1)[t];
  WAIT;
  cluster.sync();
})",
                  "nothing orders the two blocks|no thread of the block has written it"},
    ClusterKernel{"written_after_arrival", R"({ PLACE
  __shared__ int mine[128];
  ARRIVE;
  mine[t] = x[i];
  WAIT;
  y[i] = cluster.map_shared_rank(mine, rank ^ 1)[t];
  cluster.sync();
})",
                  "nothing orders the two blocks|no thread of the block has written it"},
    ClusterKernel{"overwritten_too_early", R"({ PLACE
  __shared__ int mine[128];
  mine[t] = x[i];
  cluster.sync();
  y[i] = cluster.map_shared_rank(mine, rank ^ 1)[t];
  mine[t] = -x[i] - 1;
  cluster.sync();
})",
                  "nothing orders the two blocks"},
    ClusterKernel{"no_barrier_at_the_end", R"({ PLACE
  __shared__ int mine[128];
  mine[t] = x[i];
  cluster.sync();
  y[i] = cluster.map_shared_rank(mine, rank ^ 1)[t];
})",
                  "before the end of the block|which has ended"},
    ClusterKernel{"cleared_after_others_count", R"({ PLACE
  __shared__ int bins[32];
  if (t < 32) bins[t] = 0;
  __syncthreads();
  atomicAdd(cluster.map_shared_rank(bins, t / 32) + t % 32, 1);
  cluster.sync();
  y[i] = bins[t % 32];
})",
                  "nothing orders the two blocks|no thread of the block has written it"},
    ClusterKernel{"two_blocks_store", R"({ PLACE
  __shared__ int theirs[128];
  cluster.sync();
  cluster.map_shared_rank(theirs, 0)[t] = x[i];
  cluster.sync();
  y[i] = theirs[t];
})",
                  "nothing orders the two blocks"},
    ClusterKernel{"atomic_of_the_block", R"({ PLACE
  __shared__ int count;
  if (t == 0) count = 0;
  cluster.sync();
  atomicAdd_block(cluster.map_shared_rank(&count, 0), 1);
  cluster.sync();
  y[i] = count;
})",
                  "nothing orders the two blocks"},
    ClusterKernel{"arrival_that_nobody_awaits", R"({ PLACE
  __shared__ unsigned long long bar;
  if (t == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 128;" :: "r"(shared_address(&bar)) : "memory");
  }
  cluster.sync();
  asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" :: "r"(mapped(&bar, rank ^ 1)) : "memory");
  y[i] = 0;
})",
                  "before the end of the block|which has ended"},
    ClusterKernel{"arrives_and_reads_on", R"({ PLACE
  __shared__ int mine[128];
  mine[t] = x[i];
  cluster.sync();
  ARRIVE;
  y[i] = cluster.map_shared_rank(mine, rank ^ 1)[t];
})",
                  "before the end of the block|which has ended"},
    ClusterKernel{"rank_out_of_range", R"({ PLACE
  __shared__ int mine[128];
  mine[t] = x[i];
  cluster.sync();
  y[i] = cluster.map_shared_rank(mine, rank + 1)[t];
  cluster.sync();
})",
                  "a block of the cluster, which has 4 blocks"},
    ClusterKernel{
        "out_of_bounds", R"({ PLACE
  extern __shared__ int mine[];
  mine[t] = x[i];
  cluster.sync();
  y[i] = cluster.map_shared_rank(mine, rank ^ 1)[t + 256];
  cluster.sync();
})",
        "of shared memory of block [0-3] of the cluster, of which the block has 1024 bytes"},
    ClusterKernel{"below", R"({ PLACE
  extern __shared__ int mine[];
  mine[t] = x[i];
  cluster.sync();
  y[i] = cluster.map_shared_rank(mine, rank ^ 1)[t - 1];
  cluster.sync();
})",
                  "at byte -4 of shared memory of block [0-3] of the cluster"},
    ClusterKernel{"misaligned", R"({ PLACE
  extern __shared__ int mine[];
  mine[t] = x[i];
  cluster.sync();
  y[i] = *(int*)((char*)cluster.map_shared_rank(mine, rank ^ 1) + 2);
  cluster.sync();
})",
                  "2 bytes past a multiple of 4"},
    ClusterKernel{"arrives_twice", R"({ ARRIVE; ARRIVE; WAIT; })", "again before it has waited"},
    ClusterKernel{"waits_without_arrival", R"({ WAIT; })", "has not arrived there"},
    ClusterKernel{"one_block_stays_away", R"({ PLACE
  __shared__ volatile int never;
  if (rank == 2) { __syncthreads(); if (t < 32) { __syncthreads(); } else { cluster.sync(); } }
  else cluster.sync();
})",
                  "at which others never arrive|that others never reach"},
    ClusterKernel{"own_form", R"({
  __shared__ int mine[128];
  const int t = threadIdx.x;
  mine[t] = x[t];
  ARRIVE; WAIT;
  int value;
  asm volatile("ld.shared.s32 %0, [%1];" : "=r"(value) : "r"(mapped(mine, rank_of_block() ^ 1)) : "memory");
  y[blockIdx.x * 128 + t] = value;
  ARRIVE; WAIT;
})",
                  "by an instruction for the own block's"},
    ClusterKernel{"flag_without_fence", R"({ PLACE
  __shared__ int theirs[128];
  __shared__ u32 flag;
  if (t == 0) flag = 0;
  cluster.sync();
  if (t == 0) {
    cluster.map_shared_rank(theirs, rank ^ 1)[t] = x[i] + 1;
    asm volatile("st.relaxed.cluster.shared::cluster.u32 [%0], 1;" :: "r"(mapped(&flag, rank ^ 1)) : "memory");
    u32 seen;
    do asm volatile("ld.acquire.cluster.shared::cta.u32 %0, [%1];" : "=r"(seen) : "r"(shared_address(&flag)) : "memory");
    while (seen == 0);
    y[i] = theirs[0];
  }
  cluster.sync();
})",
                  "nothing orders the two blocks"}};

class WrongCluster : public ::testing::TestWithParam<ClusterKernel> {};
TEST_P(WrongCluster, IsFoundInAllOrders) {
  for (const Order order : kClusterOrders) {
    const ClusterOutcome outcome = run_one(kWrongClusters, GetParam().name, order);
    ASSERT_TRUE(outcome.result.fault) << static_cast<int>(order);
    EXPECT_THAT(outcome.result.fault->message, ::testing::ContainsRegex(GetParam().fault));
    EXPECT_GT(outcome.result.fault->line, 0u);
  }
}
INSTANTIATE_TEST_SUITE_P(Kernels, WrongCluster, ::testing::ValuesIn(kWrongClusters), cluster_name);

TEST(Clusters, OtherFormsAreRefused) {
  for (const char* instruction :
       {"bar.cluster.arrive;", "barrier.cluster.arrive.acquire;", "barrier.cluster.wait.relaxed;",
        "barrier.cluster.sync;", "barrier.cluster.arrive.wait;", "barrier.cluster.arrive 0;",
        "mapa.u32 %r0, %r0, 0;", "mapa.shared::cta.u32 %r0, %r0, 0;",
        "mapa.shared::cluster.u32 _, %r0, 0;", "getctarank.u32 %r0, %r0;",
        "ld.shared.shared::cluster.u32 %r0, [%r0];", "ldu.shared::cluster.u32 %r0, [%r0];",
        "mbarrier.init.shared::cluster.b64 [%r0], 1;"}) {
    const std::string text = instruction;
    CompiledModule module{{"k"}, {"k"}, {}, {}};
    module.ptx =
        ".version 9.0\n.target sm_90\n.address_size 64\n"
        ".entry k(.param .u64 x, .param .u64 y, .param .u32 n) { .reg .b32 %r0;\n" +
        text + "\nret; }";
    const ClusterOutcome outcome = run_cluster(Emulation(module), 0, Order::kForward);
    ASSERT_TRUE(outcome.result.fault) << text;
    EXPECT_EQ(outcome.result.fault->kind, FaultKind::kUnsupported) << text;
    EXPECT_THAT(outcome.result.fault->message, HasSubstr(text.substr(0, text.find_first_of(" ;"))));
  }
}

TEST(Clusters, AGridThatCannotBeDividedIsNoLaunch) {
  const ClusterOutcome outcome = run_cluster(
      "__global__ void __cluster_dims__(4, 1, 1) k(const int* x, int* y, int n) { ARRIVE; WAIT; }",
      Order::kForward, {{6, 1, 1}});
  ASSERT_TRUE(outcome.result.launch_error);
  EXPECT_EQ(outcome.result.launch_error->message,
            "a grid of 6 x 1 x 1 blocks cannot be divided into clusters of 4 x 1 x 1");
}

TEST(Clusters, MoreThanEightBlocksAreNoLaunch) {
  const ClusterOutcome outcome =
      run_cluster("__global__ void __cluster_dims__(4, 4, 1) k(const int* x, int* y, int n) {}",
                  Order::kForward, {{8, 8, 1}});
  ASSERT_TRUE(outcome.result.launch_error);
  EXPECT_EQ(outcome.result.launch_error->message,
            "a cluster of 4 x 4 x 1 blocks; at most 8 in all");
}

// Blocks of a cluster have neighbouring indices on each axis.
TEST(Clusters, HaveThreeDimensions) {
  constexpr char kSource[] = R"(
__global__ void __cluster_dims__(2, 2, 2) k(const int* x, int* y, int n) {
  __shared__ int place;
  cg::cluster_group cluster = cg::this_cluster();
  const int block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  if (threadIdx.x == 0) place = block;
  cluster.sync();
  if (threadIdx.x < 8) y[block * 8 + threadIdx.x] = *cluster.map_shared_rank(&place, threadIdx.x);
  cluster.sync();
})";
  for (const Order order : kClusterOrders) {
    const ClusterOutcome outcome = run_cluster(kSource, order, {{4, 4, 4}, 32, 8});
    ASSERT_FALSE(outcome.result.fault) << outcome.result.fault->message;
    for (int block = 0; block < 64; ++block) {
      const int first = (block / 32 * 2 * 4 + block / 8 % 2 * 2) * 4 + block % 4 / 2 * 2;
      for (int r = 0; r < 8; ++r) {
        EXPECT_EQ(outcome.y[static_cast<std::size_t>(block * 8 + r)],
                  first + (r / 4 * 4 + r / 2 % 2) * 4 + r % 2);
      }
    }
  }
}

// Without __cluster_dims__ each block is a cluster of its own.
TEST(Clusters, OfOneBlock) {
  constexpr char kSource[] = R"(
__global__ void k(const int* x, int* y, int n) { PLACE
  __shared__ int mine[128];
  mine[t] = x[i];
  cluster.sync();
  y[i] = cluster.map_shared_rank(mine, 0)[t ^ 1] + cluster.num_blocks() - 1;
})";
  for (const Order order : kClusterOrders) {
    const ClusterOutcome outcome = run_cluster(kSource, order, {{7, 1, 1}});
    ASSERT_FALSE(outcome.result.fault) << outcome.result.fault->message;
    for (int i = 0; i < 7 * 128; ++i) EXPECT_EQ(outcome.y[static_cast<std::size_t>(i)], i ^ 1);
  }
}

// More clusters than the GPU holds, whose blocks wait for each other: none begins in part.
TEST(Clusters, AreResidentAsAWhole) {
  constexpr char kSource[] = R"(
__global__ void __cluster_dims__(4, 1, 1) k(const int* x, int* y, int n) {
  __shared__ int mine;
  cg::cluster_group cluster = cg::this_cluster();
  for (int round = 0; round < 3; ++round) {
    if (threadIdx.x == 0) mine = blockIdx.x + round;
    cluster.sync();
    if (threadIdx.x == 0) y[blockIdx.x] = *cluster.map_shared_rank(&mine, 3 - cluster.block_rank());
    cluster.sync();
  }
})";
  for (const Order order : kClusterOrders) {
    const ClusterOutcome outcome = run_cluster(kSource, order, {{400, 1, 1}, 32, 6});
    ASSERT_FALSE(outcome.result.fault) << outcome.result.fault->message;
    for (int b = 0; b < 400; ++b)
      EXPECT_EQ(outcome.y[static_cast<std::size_t>(b)], b / 4 * 4 + 3 - b % 4 + 2);
  }
}

// Blocks that the barrier of the cluster orders have not met.
TEST(Clusters, ABarrierSeparatesBlocks) {
  const ClusterOutcome outcome = run_cluster(R"(
__global__ void __cluster_dims__(4, 1, 1) k(const int* x, int* y, int n) { PLACE
  __shared__ int mine[128];
  mine[t] = x[i];
  cluster.sync();
  y[i] = cluster.map_shared_rank(mine, rank ^ 1)[t];
  cluster.sync();
})",
                                             Order::kForward);
  EXPECT_TRUE(outcome.result.encounters.empty());
}

}  // namespace
}  // namespace krl::machine
