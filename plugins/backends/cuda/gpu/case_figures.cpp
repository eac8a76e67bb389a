#include "plugins/backends/cuda/gpu/case_figures.hpp"

#include <algorithm>
#include <functional>
#include <kernelrl/values.hpp>

#include "plugins/backends/cuda/gpu/correctness.hpp"
#include "plugins/backends/evaluator/check/roofline.hpp"
#include "plugins/backends/evaluator/timing/log_ratio.hpp"

namespace krl::cuda {
namespace {

constexpr double kLightSpeed = 0.9;  // of the least time that moving the data can take
// No launch is faster than an empty one in another process, by more than this.
constexpr double kLaunchNs = 200;
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

// What a caller with its data on the host would also wait for; in no time of a case.
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

std::string CaseFigures::faster_than_possible(double ns, std::size_t launches) const {
  const double launches_ns =
      static_cast<double>(launches) * std::max(gpu_.empty_launch_ns() - kLaunchNs, 0.0);
  const double data_ns = kLightSpeed * writing_ns();
  if (ns >= std::max(launches_ns, data_ns)) return {};
  const auto took = [](double time) { return number_text(time) + " ns"; };
  return "it took " + took(ns) + ", and " +
         (launches_ns > data_ns ? "launching kernels that do nothing" : "writing its outputs") +
         " takes " + took(std::max(launches_ns, data_ns));
}

// To write the outputs that do not fit the L2. Not every task has to read all of its inputs.
double CaseFigures::writing_ns() const {
  double bytes = -static_cast<double>(gpu_.description().l2_bytes);
  for (const TensorDefinition& output : task_.definition.outputs) {
    bytes += static_cast<double>(task_.cases[run_.case_index].find(output.name)->bytes());
  }
  return std::max(bytes, 0.0) / gpu_.description().bandwidth * 1e9;
}

}  // namespace krl::cuda
