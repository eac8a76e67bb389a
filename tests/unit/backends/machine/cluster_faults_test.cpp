// Faults of kernels of clusters: what is wrong with their barrier, or with shared memory of other
// blocks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/backends/machine/cluster_launch.hpp"

namespace krl::machine {
namespace {

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
    ClusterKernel{"written_while_copied_in_bulk", R"({ PLACE
  __shared__ alignas(16) int mine[128];
  mine[t] = x[i];
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  cluster.sync();
  if (t == 0)
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 512; cp.async.bulk.commit_group;"
                 :: "l"(__cvta_generic_to_global(y + i)), "r"(shared_address(mine)) : "memory");
  cluster.sync();
  cluster.map_shared_rank(mine, rank ^ 1)[t] = 1;
  if (t == 0) asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
  cluster.sync();
})",
                  "has not waited for its asynchronous copy from there"},
    ClusterKernel{"overwritten_too_early", R"({ PLACE
  __shared__ int mine[128];
  mine[t] = x[i];
  cluster.sync();
  y[i] = cluster.map_shared_rank(mine, rank ^ 1)[t];
  mine[t] = -x[i] - 1;
  cluster.sync();
})",
                  "nothing orders the two blocks"},
    ClusterKernel{"read_and_overwritten", R"({ PLACE
  __shared__ int mine[128];
  mine[t] = x[i];
  cluster.sync();
  y[i] = cluster.map_shared_rank(mine, rank ^ 1)[t];
  y[i] += mine[t];
  mine[t] = -x[i] - 1;
  cluster.sync();
})",
                  "nothing orders the two blocks"},
    ClusterKernel{"read_by_a_third", R"({ PLACE
  __shared__ int mine[128];
  mine[t] = x[i];
  cluster.sync();
  if (rank == 1) cluster.map_shared_rank(mine, 0)[t] = 5;
  cluster.sync();
  int sum = rank == 0 ? mine[t] : 0;
  if (rank == 2) sum += cluster.map_shared_rank(mine, 0)[t];
  if (rank == 3) cluster.map_shared_rank(mine, 0)[t] = 6;
  cluster.sync();
  y[i] = sum;
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
                  "a block that is not in the cluster, which has 4 blocks"},
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
    ClusterKernel{"beyond_the_window", R"({
  __shared__ int mine[128];
  mine[threadIdx.x] = 0;
  ARRIVE; WAIT;
  int value;
  asm volatile("{ .reg .b64 a; cvt.u64.u32 a, %1; add.u64 a, a, 0x10000000000; ld.shared::cluster.s32 %0, [a]; }"
               : "=r"(value) : "r"(mapped(mine, rank_of_block() ^ 1)) : "memory");
  y[threadIdx.x] = value;
  ARRIVE; WAIT;
})",
                  "of shared memory, of which the block has"},
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

}  // namespace
}  // namespace krl::machine
