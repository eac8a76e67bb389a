#include "plugins/backends/cpu/plugin/time_estimate.hpp"

#include <algorithm>
#include <kernelrl/values.hpp>
#include <numeric>

#include "plugins/backends/compiled/compute_capability.hpp"
#include "plugins/backends/evaluator/check/comparison.hpp"

namespace krl::cpu {
using namespace evaluator;
namespace {

constexpr double kSectorBytes = 32;
constexpr double kFloorShare = 0.9;
constexpr double kReadShare = 0.75;       // the naive kernel may read a little in vain
constexpr double kOperationsOfWarp = 64;  // a multiply and an add by 32 lanes

Counters total(const TimeEstimate::Launches& launches) {
  Counters sum;
  for (const LaunchReport& launch : launches) {
    for (const CounterName& row : kCounterNames) {
      sum.*row.counter += launch.counters.*row.counter;
    }
    for (std::size_t k = 0; k < kInstructionClasses; ++k) {
      sum.classes[k] += launch.counters.classes[k];
    }
    sum.vector8_requests += launch.counters.vector8_requests;
    sum.vector16_requests += launch.counters.vector16_requests;
    sum.dram_load_sectors += launch.counters.dram_load_sectors;
    sum.dram_store_sectors += launch.counters.dram_store_sectors;
  }
  return sum;
}

double ratio(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

double input_bytes(const ResolvedCase& resolved) {
  double bytes = 0;
  for (const ResolvedTensor& tensor : resolved.tensors)
    if (tensor.is_input) bytes += static_cast<double>(tensor.bytes());
  return bytes;
}

double dram_bytes(const Counters& c) {
  return kSectorBytes * static_cast<double>(c.dram_load_sectors + c.dram_store_sectors);
}

}  // namespace

TimeEstimate::TimeEstimate(const std::string& gpu) : gpu_(find_gpu(gpu)) {
  if (gpu_ == nullptr) invalid_argument("gpu = \"" + gpu + "\" is none of " + kGpuNames);
  device_ = "emulated " + gpu;
}

std::string TimeEstimate::arch() const { return require_arch(gpu_->arch).full_arch(); }

std::uint32_t TimeEstimate::max_shared_bytes() const {
  return static_cast<std::uint32_t>(require_arch(gpu_->arch).shared_per_block);
}

std::uint32_t TimeEstimate::resident_blocks(const Launch& launch,
                                            const AssembledKernel& kernel) const {
  const auto fixed = static_cast<std::uint32_t>(kernel.shared_bytes);
  return cpu::resident_blocks(launch.block, fixed + launch.dynamic_shared_bytes, kernel, *gpu_);
}

double TimeEstimate::run_ns(const Launches& launches, const AssembledKernels& kernels) const {
  double ns = 0;
  for (const LaunchReport& launch : launches) {
    ns += estimate(launch, kernels.at(launch.kernel), *gpu_).ns;
  }
  return ns;
}

double TimeEstimate::loaded_bytes(const Launches& launches) const {
  return kSectorBytes * static_cast<double>(total(launches).dram_load_sectors);
}

Peaks TimeEstimate::peaks() const {
  constexpr auto kFloat = static_cast<std::size_t>(InstructionClass::kFloat);
  const double instructions_per_ns =
      gpu_->sms * gpu_->clock_ghz / gpu_->clocks_per_warp->at(kFloat);
  return {gpu_->dram_gb_per_s * gpu_->dram_efficiency, instructions_per_ns * kOperationsOfWarp};
}

std::string TimeEstimate::doubt(const ResolvedCase& resolved, const Launches& launches, double ns,
                                double naive_loaded_bytes) const {
  constexpr const char* kQuestion = ": does it read all of its input?";
  // The naive kernel reads fewer bytes than its inputs have where it gathers.
  const double read = std::min(input_bytes(resolved), naive_loaded_bytes);
  const double loaded = loaded_bytes(launches), least = kReadShare * read;
  if (loaded < least)
    return "reads " + number_text(loaded) + " bytes of at least " + number_text(least) + kQuestion;
  double written = 0;
  for (const ResolvedTensor& tensor : resolved.tensors)
    if (tensor.is_output) written += static_cast<double>(tensor.bytes());
  // Gigabytes a second are bytes a nanosecond.
  const double floor = kFloorShare * (written + read) / gpu_->dram_gb_per_s;
  if (ns >= floor) return {};
  return "estimated at " + number_text(ns) + " ns, below the " + number_text(floor) +
         " ns that moving its data takes" + kQuestion;
}

void TimeEstimate::add_values(const Launches& launches, const AssembledKernels& kernels,
                              std::int32_t case_index, std::vector<Value>* values) const {
  const Counters sum = total(launches);
  const auto add = [&](std::string_view name, std::string_view unit, double value) {
    values->push_back({case_index, std::string(name), std::string(unit), value});
  };
  for (const CounterName& row : kCounterNames) {
    add(row.name, row.unit, static_cast<double>(sum.*row.counter));
  }
  for (std::size_t k = 0; k < kInstructionClasses; ++k) {
    const std::string name = std::string(kExecuted) += kInstructionClassNames[k];
    add(name, "", static_cast<double>(sum.classes[k]));
  }
  std::uint32_t shared = 0;
  for (const LaunchReport& launch : launches) {
    shared = std::max(shared, launch.shared_bytes);
  }
  add(kVectorAccesses, "", static_cast<double>(sum.vector8_requests + sum.vector16_requests));
  add(kAtomics, "", static_cast<double>(sum.global_atomics + sum.shared_atomics));
  const std::uint64_t sectors = sum.global_load_sectors + sum.global_store_sectors;
  add(kSectorsPerRequest, "", ratio(sectors, sum.global_load_requests + sum.global_store_requests));
  add(kCoalescing, "", ratio(sum.needed_sectors, sectors));
  add(kDramBytes, "B", dram_bytes(sum));
  add(kBandwidthFraction, "", dram_bytes(sum) / run_ns(launches, kernels) / gpu_->dram_gb_per_s);
  add(kBranchEfficiency, "", ratio(sum.thread_instructions, 32 * sum.instructions));
  add(kSharedBytes, "B", shared);
  std::array<double, kBounds> parts{};
  for (const LaunchReport& launch : launches) {
    const LaunchEstimate of_launch = estimate(launch, kernels.at(launch.kernel), *gpu_);
    for (std::size_t b = 0; b < kBounds; ++b) parts[b] += of_launch.bound_ns[b];
  }
  const double all = std::accumulate(parts.begin(), parts.end(), 0.0);
  for (std::size_t b = 0; b < kBounds && all > 0; ++b)
    add(std::string(kShare) += name_of(static_cast<Bound>(b)), "", parts[b] / all);
  add(kLaunches, "", static_cast<double>(launches.size()));
}

}  // namespace krl::cpu
