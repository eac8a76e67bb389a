#include "plugins/backends/cpu/gpu_model.hpp"

#include <algorithm>
#include <cmath>

namespace krl::emulator {
namespace {

constexpr double kSectorBytes = 32;

// Constants of the model itself; estimated, to be calibrated.
constexpr double kOverlapLoss = 0.15;     // share of a faster part that shows behind the slowest
constexpr double kClocksPerRequest = 1;   // of the load-store units, per SM
constexpr double kClocksPerSector = 0.5;  // … for each sector that a request touches
constexpr double kDependentIssueClocks =
    3;  // from one instruction of a warp to the next on its path
constexpr double kLoadsInFlight =
    2;  // batches of loads that the compiler's unrolling overlaps on a path
constexpr double kSharedLoadsInFlight = 4;  // … of shared memory
constexpr double kClocksPerBlock = 40;      // to start and end a block on an SM
constexpr double kClocksPerShuffle = 1;     // of issue, beyond the instruction itself

std::uint32_t resident_blocks(const LaunchReport& launch, const GpuDescription& gpu) {
  const std::uint32_t threads = launch.block[0] * launch.block[1] * launch.block[2];
  const std::uint32_t warp_threads = std::max(1u, (threads + 31) / 32) * 32;
  std::uint32_t blocks = std::min(gpu.max_blocks_per_sm, gpu.max_threads_per_sm / warp_threads);
  if (launch.shared_bytes > gpu.max_shared_bytes_per_block) return 0;
  if (launch.shared_bytes > 0)
    blocks = std::min(blocks, gpu.shared_bytes_per_sm / launch.shared_bytes);
  return blocks;
}

double path_clocks(const CriticalPath& path, const GpuDescription& gpu) {
  const auto times = [](std::uint64_t count, double clocks) {
    return static_cast<double>(count) * clocks;
  };
  return times(path.instructions, kDependentIssueClocks) +
         times(path.dram_requests, gpu.dram_latency / kLoadsInFlight) +
         times(path.l2_requests, gpu.l2_latency / kLoadsInFlight) +
         times(path.l1_requests,
               (gpu.l1_caches_loads ? gpu.l1_latency : gpu.l2_latency) / kLoadsInFlight) +
         times(path.shared_requests, gpu.shared_latency / kSharedLoadsInFlight) +
         times(path.warp_operations, gpu.shuffle_latency) +
         times(path.barriers, gpu.barrier_latency) +
         times(path.atomics, gpu.atomic_latency / kLoadsInFlight);
}

}  // namespace

std::string_view name_of(Bound bound) {
  constexpr std::array<std::string_view, kBounds> kNames = {
      "dram", "l2", "load_store", "issue", "shared", "atomics", "latency", "blocks"};
  return kNames.at(static_cast<std::size_t>(bound));
}

LaunchEstimate estimate(const LaunchReport& launch, const GpuDescription& gpu) {
  const Counters& c = launch.counters;
  const auto real = [](std::uint64_t count) { return static_cast<double>(count); };
  LaunchEstimate result;
  result.blocks_per_sm = resident_blocks(launch, gpu);
  const double blocks = std::max(1.0, real(c.blocks));
  const double sms = std::min(blocks, static_cast<double>(gpu.sms));
  const double warps_per_block =
      std::max(1.0, std::ceil(launch.block[0] * launch.block[1] * launch.block[2] / 32.0));
  result.occupancy = result.blocks_per_sm * warps_per_block * 32 / gpu.max_threads_per_sm;
  const double resident = std::max(1u, result.blocks_per_sm);
  const double waves = std::ceil(blocks / (gpu.sms * resident));

  const double requests = real(c.global_load_requests + c.global_store_requests + c.global_atomics);
  const double sectors = real(c.global_load_sectors + c.global_store_sectors + c.atomic_passes);
  const double beyond_l1 = sectors - (gpu.l1_caches_loads ? real(c.l1_sectors) : 0.0);
  const double warp_operations = real(c.shuffles + c.votes + c.warp_barriers);
  const double clock = gpu.clock_ghz;  // clocks per ns

  auto& ns = result.bound_ns;
  const auto part = [&ns](Bound bound) -> double& { return ns[static_cast<std::size_t>(bound)]; };
  part(Bound::kDram) = kSectorBytes * real(c.dram_load_sectors + c.dram_store_sectors) /
                       (gpu.dram_gb_per_s * gpu.dram_efficiency);
  part(Bound::kL2) = kSectorBytes * beyond_l1 / (gpu.l2_bytes_per_clock * clock);
  part(Bound::kLoadStore) =
      (requests * kClocksPerRequest + sectors * kClocksPerSector) / (sms * clock);
  part(Bound::kIssue) =
      (real(c.instructions) / gpu.warps_per_clock + warp_operations * kClocksPerShuffle) /
      (sms * clock);
  part(Bound::kShared) = real(c.shared_wavefronts + c.shared_atomics) / (sms * clock);
  part(Bound::kAtomics) = real(c.hottest_atomic) * gpu.atomic_interval / clock;
  part(Bound::kLatency) = waves * path_clocks(c.critical, gpu) / clock;
  part(Bound::kBlocks) = blocks * kClocksPerBlock / (sms * resident * clock);

  double sum = 0;
  for (std::size_t i = 0; i < kBounds; ++i) {
    sum += ns[i];
    if (ns[i] > ns[static_cast<std::size_t>(result.limit)]) result.limit = static_cast<Bound>(i);
  }
  const double slowest = ns[static_cast<std::size_t>(result.limit)];
  result.ns = gpu.start_ns + slowest + kOverlapLoss * (sum - slowest);
  return result;
}

}  // namespace krl::emulator
