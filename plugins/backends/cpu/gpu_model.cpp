#include "plugins/backends/cpu/gpu_model.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace krl::emulator {
namespace {

constexpr double kSectorBytes = 32;

std::uint32_t resident_blocks(const LaunchReport& launch, const GpuDescription& gpu) {
  const std::uint32_t threads = launch.block[0] * launch.block[1] * launch.block[2];
  const std::uint32_t warp_threads = std::max(1u, (threads + 31) / 32) * 32;
  std::uint32_t blocks = std::min(gpu.max_blocks_per_sm, gpu.max_threads_per_sm / warp_threads);
  if (launch.shared_bytes > gpu.max_shared_bytes_per_block) return 0;
  if (launch.shared_bytes > 0)
    blocks = std::min(blocks, gpu.shared_bytes_per_sm / launch.shared_bytes);
  return blocks;
}

double real(std::uint64_t count) { return static_cast<double>(count); }

// What a warp waits for global loads. Those in order wait one after the other; the others are taken
// to stand in a loop that the compiler unrolls: as many as it puts under way together wait once,
// for the slowest of them.
double load_clocks(const CriticalPath& path, const GpuDescription& gpu) {
  struct Level {
    std::uint64_t requests, ordered;
    double latency;
  };
  const Level levels[] = {
      {path.dram_requests, path.ordered_dram_requests, gpu.dram_latency},
      {path.l2_requests, path.ordered_l2_requests, gpu.l2_latency},
      {path.l1_requests, path.ordered_l1_requests,
       gpu.l1_caches_loads ? gpu.l1_latency : gpu.l2_latency},
  };
  double free_requests = 0;
  for (const Level& level : levels) free_requests += real(level.requests - level.ordered);
  double groups = std::max(std::min(1.0, free_requests), free_requests / gpu.model->unrolled_loads);
  double clocks = 0;
  for (const Level& level : levels) {
    const double waits = std::min(real(level.requests - level.ordered), groups);
    groups -= waits;
    clocks += (real(level.ordered) + waits) * level.latency;
  }
  return clocks / gpu.model->loads_in_flight;
}

double path_clocks(const CriticalPath& path, const GpuDescription& gpu) {
  const ModelConstants& model = *gpu.model;
  return real(path.instructions) * model.dependent_issue_clocks + load_clocks(path, gpu) +
         real(path.shared_requests) * gpu.shared_latency / model.shared_loads_in_flight +
         real(path.warp_operations) * gpu.shuffle_latency +
         real(path.barriers) * gpu.barrier_latency +
         real(path.atomics) * gpu.atomic_latency / model.loads_in_flight;
}

// The units take requests one by one, and move what each touches.
double load_store_clocks(const Counters& c, const ModelConstants& model) {
  const auto requests = c.global_load_requests + c.global_store_requests + c.global_atomics;
  const auto sectors = c.global_load_sectors + c.global_store_sectors + c.atomic_passes;
  return std::max(
      real(requests) * model.clocks_per_request + real(sectors) * model.clocks_per_sector,
      real(sectors) * model.least_clocks_per_sector);
}

// Blocks start one after the other and memory answers one later than another: of `blocks` that run
// at once, the last decides. As many wait for memory as have warps that load, each at least once.
double spread_ns(const Counters& c, double blocks, double warps_per_block,
                 const ModelConstants& model) {
  const double waiting = std::clamp(real(c.global_load_requests) / warps_per_block, 1.0, blocks);
  return model.block_spread_ns * std::log(blocks) + model.wait_spread_ns * std::log(waiting);
}

}  // namespace

std::string_view name_of(Bound bound) {
  constexpr std::array<std::string_view, kBounds> kNames = {
      "dram", "l2", "load_store", "issue", "shared", "atomics", "latency", "blocks"};
  return kNames.at(static_cast<std::size_t>(bound));
}

LaunchEstimate estimate(const LaunchReport& launch, const GpuDescription& gpu) {
  const Counters& c = launch.counters;
  const ModelConstants& model = *gpu.model;
  LaunchEstimate result;
  result.blocks_per_sm = resident_blocks(launch, gpu);
  const double blocks = std::max(1.0, real(c.blocks));
  const double sms = std::min(blocks, static_cast<double>(gpu.sms));
  const double warps_per_block =
      std::max(1.0, std::ceil(launch.block[0] * launch.block[1] * launch.block[2] / 32.0));
  result.occupancy = result.blocks_per_sm * warps_per_block * 32 / gpu.max_threads_per_sm;
  const double resident = std::max(1u, result.blocks_per_sm);
  const double waves = std::ceil(blocks / (gpu.sms * resident));

  const double sectors = real(c.global_load_sectors + c.global_store_sectors + c.atomic_passes);
  const double beyond_l1 = sectors - (gpu.l1_caches_loads ? real(c.l1_sectors) : 0.0);
  const double warp_operations = real(c.shuffles + c.votes + c.warp_barriers);
  const double clock = gpu.clock_ghz;  // clocks per ns

  auto& ns = result.bound_ns;
  const auto part = [&ns](Bound bound) -> double& { return ns[static_cast<std::size_t>(bound)]; };
  part(Bound::kDram) = kSectorBytes * real(c.dram_load_sectors + c.dram_store_sectors) /
                       (gpu.dram_gb_per_s * gpu.dram_efficiency);
  part(Bound::kL2) = kSectorBytes * beyond_l1 / (gpu.l2_bytes_per_clock * clock);
  part(Bound::kLoadStore) = load_store_clocks(c, model) / (sms * clock);
  part(Bound::kIssue) =
      (real(c.instructions) / gpu.warps_per_clock + warp_operations * model.clocks_per_shuffle) /
      (sms * clock);
  part(Bound::kShared) = real(c.shared_wavefronts + c.shared_atomics) / (sms * clock);
  part(Bound::kAtomics) = real(c.hottest_atomic) * gpu.atomic_interval / clock;
  const double path_ns = path_clocks(c.critical, gpu) / clock;
  part(Bound::kLatency) = waves * path_ns;
  part(Bound::kBlocks) = blocks * model.clocks_per_block / (sms * resident * clock);

  for (std::size_t i = 0; i < kBounds; ++i) {
    if (ns[i] > ns[static_cast<std::size_t>(result.limit)]) result.limit = static_cast<Bound>(i);
  }
  const double exposed = std::min(waves, model.exposed_waves) * path_ns;
  std::array<double, kBounds> overlapping = ns;
  overlapping[static_cast<std::size_t>(Bound::kLatency)] -= exposed;
  const double slowest = *std::max_element(overlapping.begin(), overlapping.end());
  const double sum = std::accumulate(overlapping.begin(), overlapping.end(), 0.0);
  result.ns = gpu.start_ns + spread_ns(c, sms, warps_per_block, model) + exposed + slowest +
              model.overlap_loss * (sum - slowest);
  return result;
}

}  // namespace krl::emulator
