#include "plugins/backends/cpu/gpu_model.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "plugins/backends/compiled/occupancy.hpp"

namespace krl::cpu {
using namespace compiled;
namespace {

constexpr double kSectorBytes = 32;
constexpr double kWarpsPerClock = 4;  // instructions that an SM issues: one by each scheduler

double real(std::uint64_t count) { return static_cast<double>(count); }

// Words that ran out of registers are stored and loaded again: where, the assembler does not say,
// so where the kernel is busiest. Code that is hardly executed makes them no cheaper.
struct Spills {
  double requests = 0;       // requests of the whole launch
  double waits_on_path = 0;  // four of the loads are under way together

  Spills(const Counters& c, const AssembledKernel& kernel) {
    const double loads = std::max(0, kernel.spill_bytes) / 4.0 * real(c.typical_runs);
    const double on_path = real(c.critical.instructions) / std::max(1.0, real(c.instructions));
    requests = 2 * loads;
    waits_on_path = loads / 4 * on_path;
  }
};

double clocks_of(const CriticalPath& path, const GpuDescription& gpu) {
  const PathClocks each = path_clocks(gpu);
  double clocks = 0;
  for (std::size_t i = 0; i < each.size(); ++i) clocks += real(path.*kPathParts[i]) * each[i];
  return clocks;
}

// The load-store unit takes requests one by one, and moves what each touches.
double load_store_clocks(const Counters& c, const Spills& spills, const ModelConstants& model) {
  const double requests = real(c.global_load_requests + c.global_store_requests + c.global_atomics +
                               c.local_requests + c.constant_repeats) +
                          spills.requests;
  const double sectors =
      real(c.global_load_sectors + c.global_store_sectors + c.atomic_passes + c.local_sectors) +
      4 * spills.requests;
  return std::max(requests * model.clocks_per_request, sectors * model.clocks_per_sector);
}

// Clocks of an SM's schedulers that an instruction takes. Divisions are subroutines; the one of f64
// has 14 instructions, as ptxas 13.0 makes it, but occupies the f64 unit for longer.
double issued(InstructionClass kind, double unit) {
  if (kind == InstructionClass::kDivide) return unit;
  return (kind == InstructionClass::kDoubleDivide ? 14 : 1) / kWarpsPerClock;
}

// Each class has separate units, but for f64; all of them share the schedulers.
double issue_clocks(const Counters& c, const Spills& spills, const GpuDescription& gpu) {
  double all = spills.requests / kWarpsPerClock;
  PerClass<double> busy{};
  for (std::size_t k = 0; k < kInstructionClasses; ++k) {
    const double unit = (*gpu.clocks_per_warp)[k];
    busy[k] = real(c.classes[k]) * unit;
    all += real(c.classes[k]) * issued(static_cast<InstructionClass>(k), unit);
  }
  double tensor = 0;
  for (std::size_t t = 0; t < kTensorTypes; ++t)
    tensor += real(c.tensor_products[t]) / (*gpu.products_per_clock)[t];
  busy[static_cast<std::size_t>(InstructionClass::kDouble)] +=
      busy[static_cast<std::size_t>(InstructionClass::kDoubleDivide)];
  return std::max({all, *std::max_element(busy.begin(), busy.end()), tensor});
}

// Blocks start one after the other and memory answers one request later than another: the last of
// each decides.
double spread_ns(const Counters& c, double sms, const ModelConstants& model) {
  const double requests = std::max(1.0, real(c.global_load_requests));
  return model.block_spread_ns * std::log(sms) + model.request_spread_ns * std::log(requests);
}

Occupancy occupancy_of(const Dim3& block, std::uint32_t shared_bytes, const AssembledKernel& kernel,
                       const GpuDescription& gpu) {
  const auto threads = std::int64_t{block[0]} * block[1] * block[2];
  return theoretical_occupancy(require_arch(gpu.arch),
                               {threads, kernel.registers, shared_bytes, 0, kernel.barriers});
}

// The time in which each part of the GPU does its share of a launch, without waiting for the others;
// kLatency apart.
std::array<double, kBounds> unit_ns(const Counters& c, const Spills& spills, double resident,
                                    const GpuDescription& gpu) {
  const ModelConstants& model = *gpu.model;
  const double clock = gpu.clock_ghz;  // clocks per ns
  const double blocks = std::max(1.0, real(c.blocks));
  const double sms = std::min(blocks, static_cast<double>(gpu.sms));
  const double sectors = real(c.global_load_sectors + c.global_store_sectors + c.atomic_passes);
  std::array<double, kBounds> ns{};
  const auto part = [&ns](Bound bound) -> double& { return ns[static_cast<std::size_t>(bound)]; };
  part(Bound::kDram) = kSectorBytes * real(c.dram_load_sectors + c.dram_store_sectors) /
                       (gpu.dram_gb_per_s * gpu.dram_efficiency);
  part(Bound::kL2) =
      kSectorBytes * (sectors - real(c.l1_sectors)) / (gpu.l2_bytes_per_clock * clock);
  part(Bound::kLoadStore) = load_store_clocks(c, spills, model) / (sms * clock);
  part(Bound::kIssue) = issue_clocks(c, spills, gpu) / (sms * clock);
  part(Bound::kShared) = real(c.shared_wavefronts + c.shared_atomics + c.shared_atomic_repeats +
                              2 * c.shared_atomic_loops) /
                         (sms * clock);
  part(Bound::kAtomics) = real(c.hottest_atomic) * gpu.atomic_interval / clock;
  part(Bound::kBlocks) = blocks * model.clocks_per_block / (sms * resident * clock);
  return ns;
}

}  // namespace

PathClocks path_clocks(const GpuDescription& gpu) {
  return {0,  // instructions: by their chains
          gpu.model->clocks_per_chain_clock,
          gpu.dram_latency,
          gpu.l2_latency,
          gpu.l1_latency,
          gpu.shared_latency,
          gpu.shuffle_latency,
          gpu.barrier_latency,
          gpu.atomic_latency,
          2 * gpu.shared_latency,  // a turn of a loop: a load, then a compare-and-swap
          1};
}

std::string_view name_of(Bound bound) {
  constexpr std::array<std::string_view, kBounds> kNames = {
      "dram", "l2", "load_store", "issue", "shared", "atomics", "latency", "blocks"};
  return kNames.at(static_cast<std::size_t>(bound));
}

std::uint32_t resident_blocks(const Dim3& block, std::uint32_t shared_bytes,
                              const AssembledKernel& kernel, const GpuDescription& gpu) {
  const std::int32_t per_sm = occupancy_of(block, shared_bytes, kernel, gpu).blocks_per_sm;
  return gpu.sms * static_cast<std::uint32_t>(std::max(0, per_sm));
}

LaunchEstimate estimate(const LaunchReport& launch, const AssembledKernel& kernel,
                        const GpuDescription& gpu) {
  const Counters& c = launch.counters;
  const ModelConstants& model = *gpu.model;
  const Occupancy occupancy = occupancy_of(launch.block, launch.shared_bytes, kernel, gpu);
  LaunchEstimate result;
  result.blocks_per_sm = static_cast<std::uint32_t>(occupancy.blocks_per_sm);
  result.occupancy = occupancy.fraction;
  result.occupancy_limiter = occupancy.limiter;
  const double blocks = std::max(1.0, real(c.blocks));
  const double sms = std::min(blocks, static_cast<double>(gpu.sms));
  const double resident = std::max(1u, result.blocks_per_sm);
  const double waves = std::ceil(blocks / (gpu.sms * resident));
  const Spills spills(c, kernel);
  const double clock = gpu.clock_ghz;  // clocks per ns

  auto& ns = result.bound_ns = unit_ns(c, spills, resident, gpu);
  const double path = clocks_of(c.critical, gpu), spilled = spills.waits_on_path * gpu.l1_latency;
  const double path_ns = (path + spilled) / clock;
  // If the span is unknown, all blocks are taken to be as long as the longest.
  const double span = c.span_clocks > 0 ? real(c.span_clocks) : waves * path;
  const double all_ns = std::max(path_ns, (span + waves * spilled) / clock);
  ns[static_cast<std::size_t>(Bound::kLatency)] = all_ns;
  result.limit = static_cast<Bound>(std::max_element(ns.begin(), ns.end()) - ns.begin());
  // The units work while the warps of a wave wait; only their time beyond that is added. A single
  // long block hides no more of their work than others.
  const double hidden_ns = model.hidden_by_path * std::min(path_ns, all_ns / waves);
  std::array<double, kBounds> beyond = ns;
  for (double& part_ns : beyond) part_ns = std::max(0.0, part_ns - hidden_ns);
  beyond[static_cast<std::size_t>(Bound::kLatency)] = all_ns - path_ns;
  const double slowest = *std::max_element(beyond.begin(), beyond.end());
  const double sum = std::accumulate(beyond.begin(), beyond.end(), 0.0);
  const double fetch_ns = real(c.code_instructions) * model.clocks_per_new_instruction / clock;
  // Warps that start together ask together: while they wait for memory, they also wait in line.
  const double queued_ns = model.queued_share * ns[static_cast<std::size_t>(Bound::kLoadStore)];
  result.ns = gpu.start_ns + fetch_ns + spread_ns(c, sms, model) + path_ns + queued_ns + slowest +
              model.overlap_loss * (sum - slowest);
  return result;
}

}  // namespace krl::cpu
