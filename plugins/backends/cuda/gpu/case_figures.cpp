#include "plugins/backends/cuda/gpu/case_figures.hpp"

#include <algorithm>
#include <functional>
#include <kernelrl/values.hpp>

#include "plugins/backends/cuda/gpu/correctness.hpp"
#include "plugins/backends/cuda/gpu/host_runner.hpp"
#include "plugins/backends/evaluator/check/roofline.hpp"
#include "plugins/backends/evaluator/timing/log_ratio.hpp"

namespace krl::cuda {
using namespace evaluator;
namespace {

constexpr double kLightSpeed = 0.9;  // share of the least time in which the data can be moved
// Elements of each input whose share is looked for, and how far off that may be.
constexpr std::uint64_t kTriesOfAnInput = 32;
constexpr double kShareError = 0.1;
// Least share of the time of an empty launch, as it was measured in another process once: clocks
// differ, and a real one took 0.85 of it.
constexpr double kLaunchSpeed = 0.75;
constexpr std::size_t kReferenceSamples = 5;  // once a case: one place after the point will do

}  // namespace

std::vector<double> CaseFigures::time_reference(const std::vector<std::uint64_t>& seeds) const {
  const gpu::Check expected = expectation(task_, run_);
  const gpu::TimeReference request{expected.reference, expected.inputs, seeds};
  return gpu_.ask_checker("time_reference", request).get<std::vector<double>>();
}

double CaseFigures::reference_ns(std::mt19937_64& random) const {
  const auto known = gpu_.baseline_ns().find(key_of_reference());
  if (known != gpu_.baseline_ns().end()) return known->second;
  std::vector<std::uint64_t> seeds(kReferenceSamples);
  std::generate(seeds.begin(), seeds.end(), std::ref(random));
  const std::vector<double> ns = time_reference(seeds);
  return gpu_.baseline_ns()[key_of_reference()] = ns.empty() ? 0 : median_of(ns);
}

void CaseFigures::add(double reference_ns, EvaluationRecord* record) const {
  const auto index = static_cast<std::int32_t>(run_.case_index);
  const double time_ns = record->cases[run_.case_index].time_ns;
  add_transfer(record);
  const double least = least_ns(task_.cases[run_.case_index], gpu_.peaks());
  record->values.push_back({index, std::string(kRoofline), "", least / time_ns});
  if (reference_ns == 0) return;
  record->values.push_back({index, "reference_time", "ns", reference_ns});
  record->values.push_back({index, std::string(kReferenceSpeedup), "", reference_ns / time_ns});
}

// Adds the time that a caller with its data on the host would also wait; no time of a case includes
// it.
void CaseFigures::add_transfer(EvaluationRecord* record) const {
  const ResolvedCase& resolved = task_.cases[run_.case_index];
  gpu::Transfer bytes;
  for (const auto& input : task_.definition.inputs) {
    bytes.to_gpu += static_cast<std::uint64_t>(resolved.find(input.name)->bytes());
  }
  for (const auto& output : task_.definition.outputs) {
    bytes.to_host += static_cast<std::uint64_t>(resolved.find(output.name)->bytes());
  }
  const auto ns = gpu_.ask_checker("transfer", bytes).get<gpu::Transfer>();
  const auto index = static_cast<std::int32_t>(run_.case_index);
  record->values.push_back({index, "transfer_to_gpu", "ns", static_cast<double>(ns.to_gpu)});
  record->values.push_back({index, "transfer_to_host", "ns", static_cast<double>(ns.to_host)});
}

std::string CaseFigures::faster_than_possible(double ns, std::size_t launches,
                                              const GpuCandidate* own) const {
  const auto took = [&](const std::string& what, double least_ns) {
    return "it took " + number_text(ns) + " ns, and " + what + " takes " + number_text(least_ns) +
           " ns";
  };
  const double launches_ns = kLaunchSpeed * static_cast<double>(launches) * gpu_.empty_launch_ns();
  if (ns < launches_ns) return took("launching kernels that do nothing", launches_ns);
  const double writing_ns = written_bytes() / gpu_.description().bandwidth * 1e9;
  if (ns < kLightSpeed * writing_ns) return took("writing its outputs", writing_ns);
  const double rate = gpu_.peaks().bytes_per_ns;
  // Not every task has to read all of its inputs.
  if (own == nullptr || rate == 0 || ns >= kLightSpeed * resolved().least_bytes / rate) return {};
  const double moving_ns = (written_bytes() + read_bytes(*own)) / rate;
  return ns < kLightSpeed * moving_ns
             ? took("reading what its outputs depend on, and writing them,", moving_ns)
             : "";
}

// Returns how many bytes of the outputs exceed the L2.
double CaseFigures::written_bytes() const {
  double bytes = -static_cast<double>(gpu_.description().l2_bytes);
  for (const TensorDefinition& output : task_.definition.outputs) {
    bytes += static_cast<double>(resolved().find(output.name)->bytes());
  }
  return std::max(bytes, 0.0);
}

// Estimates how many bytes of the inputs must be read: the share that the outputs of the task's own
// kernel depend on, less the error of the few tries. Measured once per task and checker.
double CaseFigures::read_bytes(const GpuCandidate& own) const {
  const auto known = gpu_.baseline_ns().find(key() + "read bytes");
  if (known != gpu_.baseline_ns().end()) return known->second;
  gpu_.ask_checker("load", own.load());
  const BufferSet buffers = own.buffers(run_.case_index);
  const gpu::UseInputs request{buffers.program, buffers.output_offsets, expectation(task_, run_),
                               secret_number(), kTriesOfAnInput};
  const auto shares = gpu_.ask_checker("input_shares", request).get<std::vector<double>>();
  double bytes = 0;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    bytes +=
        std::max(shares[i] - kShareError, 0.0) * static_cast<double>(resolved().tensors[i].bytes());
  }
  return gpu_.baseline_ns()[key() + "read bytes"] = bytes;
}

}  // namespace krl::cuda
