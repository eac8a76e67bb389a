// Clusters: their barrier, and shared memory of other blocks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/backends/machine/cluster_launch.hpp"

namespace krl::machine {
namespace {

using ::testing::HasSubstr;

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
    ClusterKernel{"copied_in_bulk_while_read", R"({ PLACE
  __shared__ alignas(16) int mine[128];
  mine[t] = x[i];
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  cluster.sync();
  if (t == 0)
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 512; cp.async.bulk.commit_group;"
                 :: "l"(__cvta_generic_to_global(y + i)), "r"(shared_address(mine)) : "memory");
  const int other = cluster.map_shared_rank(mine, rank ^ 1)[t];
  cluster.sync();
  if (t == 0) asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
  __syncthreads();
  mine[t] = other;
  y[i] = mine[t];
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
    // Stages of a buffer in the odd block, which the even one fills, and barriers for both ways.
    ClusterKernel{"pipeline", R"({ PLACE
  __shared__ int stage[2][128];
  __shared__ unsigned long long full[2], empty[2];
  if (t < 2) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 128;" :: "r"(shared_address(&full[t])) : "memory");
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 128;" :: "r"(shared_address(&empty[t])) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  ARRIVE_RELAXED; WAIT;
  __syncthreads();
  auto arrive = [&](unsigned long long* bar) {
    asm volatile("{ .reg .b32 far; mapa.shared::cluster.u32 far, %0, %1; mbarrier.arrive.shared::cluster.b64 _, [far]; }"
                 :: "r"(shared_address(bar)), "r"(rank ^ 1) : "memory");
  };
  auto wait = [&](unsigned long long* bar, u32 parity) {
    asm volatile("{ .reg .pred p; WAITS: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1; @p bra DONE; bra WAITS; DONE: }"
                 :: "r"(shared_address(bar)), "r"(parity) : "memory");
  };
  int sum = 0;
  for (int step = 0; step < 10; ++step) {
    const int s = step % 2, round = step / 2;
    if (rank % 2 == 0) {
      if (round > 0) wait(&empty[s], (round + 1) % 2);
      cluster.map_shared_rank(stage[s], rank ^ 1)[t] = x[i] + step;
      arrive(&full[s]);
    } else {
      wait(&full[s], round % 2);
      sum += stage[s][t] - step;
      arrive(&empty[s]);
    }
  }
  cluster.sync();
  y[i] = rank % 2 == 0 ? i ^ 128 : sum / 10;
})"},
    // A tile that others fill again and again, and the block reads and changes in between.
    ClusterKernel{"tile", R"({ PLACE
  __shared__ int tile[128];
  int sum = 0;
  for (int step = 0; step < 6; ++step) {
    cluster.sync();
    cluster.map_shared_rank(tile, rank ^ 1)[t ^ step] = x[i] + step;
    cluster.sync();
    for (int k = 0; k < 4; ++k) sum += tile[(t + k) % 128];
    __syncthreads();
    tile[t] += 1;
    __syncthreads();
    sum += tile[t ^ 32];
  }
  cluster.sync();
  y[i] = sum != 0 ? i ^ 128 : -2;
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

TEST(Clusters, ByTheFunctionsOfCudaPtx) {
  constexpr char kSource[] = R"(
#include <cuda/ptx>
namespace ptx = cuda::ptx;
__global__ void __cluster_dims__(2, 1, 1) k(const int* x, int* y, int n) { PLACE
  __shared__ int theirs[128];
  __shared__ cuda::std::uint64_t bar;
  if (t == 0) {
    ptx::mbarrier_init(&bar, 128);
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
  }
  ptx::barrier_cluster_arrive(ptx::sem_relaxed);
  ptx::barrier_cluster_wait(ptx::sem_acquire);
  __syncthreads();
  cluster.map_shared_rank(theirs, rank ^ 1)[t] = x[i];
  ptx::mbarrier_arrive(ptx::sem_release, ptx::scope_cluster, ptx::space_cluster,
                       cluster.map_shared_rank(&bar, rank ^ 1));
  while (!ptx::mbarrier_try_wait_parity(ptx::sem_acquire, ptx::scope_cluster, &bar, 0)) {}
  y[i] = theirs[t];
})";
  for (const Order order : kClusterOrders) {
    const ClusterOutcome outcome = run_cluster(kSource, order);
    ASSERT_FALSE(outcome.result.fault) << outcome.result.fault->message;
    for (int i = 0; i < 1024; ++i) EXPECT_EQ(outcome.y[static_cast<std::size_t>(i)], i ^ 128);
  }
}

// Operands that no compiler writes: variables with offsets, and addresses of 64 bits.
TEST(Clusters, AddressesInPtx) {
  CompiledModule module{{"k"}, {"k"}, {}, {}};
  module.ptx = R"(.version 9.0
.target sm_90
.address_size 64
.entry k(.param .u64 x, .param .u64 y, .param .u32 n) .explicitcluster .reqnctapercluster 2
{
  .reg .b32 %r<8>;
  .reg .b64 %rd<8>;
  .reg .pred %p<3>;
  .shared .align 16 .b8 s[64];
  mov.u32 %r0, s+4;
  st.shared.u32 [%r0], 77;
  barrier.cluster.arrive;
  barrier.cluster.wait;
  mapa.shared::cluster.u32 %r1, s+4, 1;
  mapa.shared::cluster.u64 %rd1, s, 0;
  getctarank.shared::cluster.u32 %r2, s+8;
  ld.shared::cluster.u32 %r3, [%r1];
  ld.volatile.shared::cluster.u32 %r4, [%rd1+4];
  ld.relaxed.cluster.shared::cluster.u32 %r5, [s+4];
  cvta.shared::cluster.u64 %rd2, %rd1;
  cvta.to.shared::cluster.u64 %rd3, %rd2;
  isspacep.shared::cluster %p0, %rd2;
  setp.eq.and.u64 %p0, %rd1, %rd3, %p0;
  mov.pred %p1, %is_explicit_cluster;
  and.pred %p0, %p0, %p1;
  mov.u32 %r6, %cluster_ctarank;
  setp.eq.and.u32 %p0, %r2, %r6, %p0;
  add.u32 %r3, %r3, %r4;
  add.u32 %r3, %r3, %r5;
  selp.u32 %r3, %r3, 0, %p0;
  ld.param.u64 %rd4, [y];
  mov.u32 %r7, %ctaid.x;
  mul.wide.u32 %rd5, %r7, 4;
  add.u64 %rd4, %rd4, %rd5;
  st.global.u32 [%rd4], %r3;
  barrier.cluster.arrive.relaxed.aligned;
  barrier.cluster.wait.acquire.aligned;
  ret;
})";
  const ClusterOutcome outcome = run_cluster(Emulation(module), 0, Order::kForward, {{2, 1, 1}, 1});
  ASSERT_FALSE(outcome.result.fault) << outcome.result.fault->message;
  EXPECT_EQ(outcome.y[0], 231);
  EXPECT_EQ(outcome.y[1], 231);
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
