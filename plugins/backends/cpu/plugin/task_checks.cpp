// prepare(): is a task fit to be learned from?
#include "plugins/backends/evaluator/check/task_checks.hpp"

#include <cmath>

#include "plugins/backends/cpu/plugin/cpu_executor.hpp"
#include "plugins/backends/evaluator/check/comparison.hpp"
#include "plugins/backends/evaluator/check/element.hpp"

namespace krl::cpu {
using namespace evaluator;
namespace {

std::vector<std::byte> filled(const ResolvedTensor& output, double number) {
  std::vector<std::byte> bytes(static_cast<std::size_t>(output.bytes()));
  const double stored = is_floating(output.dtype) ? number : std::nearbyint(number);
  const auto size = static_cast<std::size_t>(size_of(output.dtype));
  for (std::size_t at = 0; at < bytes.size(); at += size) {
    store_number(output.dtype, stored, bytes.data() + at);
  }
  return bytes;
}

std::vector<OutputTraits> traits_in(const PreparedTask& task, const PlannedRun& run,
                                    const CaseData& data) {
  std::vector<OutputTraits> traits;
  for (const TensorDefinition& definition : task.definition.outputs) {
    const ResolvedTensor& output = *task.cases[run.case_index].find(definition.name);
    const ExpectedOutput& expected = data.expected[traits.size()];
    const std::vector<std::byte> zeros(static_cast<std::size_t>(output.bytes()));
    traits.push_back(traits_of(output.dtype, output.elements, task.definition.tolerance,
                               [&](const Tolerance& tolerance) {
                                 return compare_output(output, zeros, expected, tolerance).wrong;
                               }));
  }
  return traits;
}

// Compares made-up outputs with the expected ones in all runs of an evaluation.
class ImpostorCheck {
 public:
  ImpostorCheck(const PreparedTask& task, const std::vector<PlannedRun>& plan,
                const std::vector<std::shared_ptr<const CaseData>>& data)
      : task_(task), plan_(plan), data_(data) {}

  // True if the outputs as which it is tried are right in every run.
  bool passes(const Impostor& impostor) const {
    for (std::size_t o = 0; o < task_.definition.outputs.size(); ++o) {
      if (!impostor.is_tried_as(o)) continue;
      const double number = impostor.kind == Impostor::kMean ? mean_of(o) : 0;
      for (std::size_t r = 0; r < plan_.size(); ++r) {
        if (is_tried(impostor, plan_[r]) && !passes_run(impostor, o, r, number)) return false;
      }
    }
    return true;
  }

 private:
  double mean_of(std::size_t output) const {
    double sum = 0, count = 0;
    for (const auto& run : data_) {
      const ExpectedOutput& expected = run->expected[output];
      for (const double value : expected.reals) sum += value;
      for (const std::int64_t value : expected.integers) sum += static_cast<double>(value);
      count += static_cast<double>(expected.reals.size() + expected.integers.size());
    }
    return sum / count;
  }

  bool passes_run(const Impostor& impostor, std::size_t o, std::size_t r, double number) const {
    const ResolvedCase& resolved = task_.cases[plan_[r].case_index];
    const ResolvedTensor& output = *resolved.find(task_.definition.outputs[o].name);
    const auto passes = [&](const std::vector<std::byte>& made_up) {
      return compare_output(output, made_up, data_[r]->expected[o], task_.definition.tolerance)
          .passed();
    };
    if (impostor.kind != Impostor::kCopy) return passes(filled(output, number));
    const ResolvedTensor& input = resolved.tensors[impostor.which];
    return input.dtype == output.dtype && input.elements == output.elements &&
           passes(data_[r]->inputs[impostor.which]);
  }

  const PreparedTask& task_;
  const std::vector<PlannedRun>& plan_;
  const std::vector<std::shared_ptr<const CaseData>>& data_;
};

}  // namespace

void CpuExecutor::check_reference(const PreparedTask& task, std::vector<PlannedRun> runs,
                                  const Cancelled&) {
  if (task.protocol == Protocol::kKernelBench) return;  // KernelBench checks no task
  require_room(task, runs);
  std::vector<std::shared_ptr<const CaseData>> data;  // kept for known cases
  evaluator::check_reference(
      task, std::move(runs),
      {[&](const PlannedRun& run) {
         auto expected = data_.get(task, run);
         if (task.kind_of(run.case_index) != CaseKind::kFresh) data.push_back(std::move(expected));
       },
       [&](const PlannedRun& run) { return traits_in(task, run, *data_.get(task, run)); },
       [&](const std::vector<PlannedRun>& known, const Impostor& impostor) {
         return ImpostorCheck(task, known, data).passes(impostor);
       }});
}

}  // namespace krl::cpu
