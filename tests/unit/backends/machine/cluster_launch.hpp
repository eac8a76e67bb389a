// For tests: kernels of clusters, and a launch of one of them.
#pragma once

#include <gtest/gtest.h>

#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "tests/unit/backends/machine/emulation.hpp"

namespace krl::machine {

inline constexpr Order kClusterOrders[] = {Order::kForward, Order::kReversed, Order::kShuffled,
                                           Order::kLockstep, Order::kDrawn};

// Kernels are k(const int* x, int* y, int n): x, of 1024 elements, counts up; y has as many; unless
// said otherwise, 8 blocks of 128 threads, in clusters of 4.
inline constexpr char kClusterHead[] = R"(
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

inline std::string cluster_name(const ::testing::TestParamInfo<ClusterKernel>& info) {
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

inline ClusterOutcome run_cluster(Emulation emulation, std::uint32_t kernel, Order order,
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

inline ClusterOutcome run_cluster(const std::string& source, Order order,
                                  const ClusterLaunch& launch = {}) {
  return run_cluster(Emulation(kClusterHead + source, {"k"}), 0, order, launch);
}

// One of several kernels, which are compiled at once.
inline ClusterOutcome run_one(std::span<const ClusterKernel> kernels, const std::string& name,
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

}  // namespace krl::machine
