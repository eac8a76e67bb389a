// prepare(): is a task fit to be learned from? Its reference must work, its naive kernel be right,
// and no output that knows nothing about the task may pass.
#include <algorithm>
#include <cstring>

#include "plugins/backends/cpu/plugin/cpu_evaluator.hpp"
#include "plugins/backends/evaluator/check/comparison.hpp"
#include "plugins/backends/evaluator/check/element.hpp"

namespace krl {
namespace {

std::string located(const TaskDefinition& task, std::string_view key) {
  const std::string place = task.origin.locate(key);
  return (place.empty() ? task.id : place) + ": ";
}

// What a made-up output may be made of.
struct Material {
  double mean;                           // of all expected values of all runs
  const ResolvedTensor* input;           // null: none
  const std::vector<std::byte>* copied;  // the elements of that input
};

// Makes up an output without doing the work; false if it cannot for these tensors.
using Impostor = bool (*)(const ResolvedTensor& output, const Material& material,
                          std::vector<std::byte>* out);

bool fill_zero(const ResolvedTensor&, const Material&, std::vector<std::byte>* out) {
  std::fill(out->begin(), out->end(), std::byte{0});
  return true;
}

bool fill_mean(const ResolvedTensor& output, const Material& material,
               std::vector<std::byte>* out) {
  const double value = is_floating(output.dtype) ? material.mean : std::nearbyint(material.mean);
  const auto size = static_cast<std::size_t>(size_of(output.dtype));
  for (std::size_t at = 0; at < out->size(); at += size) {
    store_number(output.dtype, value, out->data() + at);
  }
  return true;
}

bool fill_copy(const ResolvedTensor& output, const Material& material,
               std::vector<std::byte>* out) {
  if (material.input->dtype != output.dtype || material.input->elements != output.elements) {
    return false;
  }
  *out = *material.copied;
  return true;
}

// Holds made-up outputs against what is expected in all runs of an evaluation.
class ImpostorCheck {
 public:
  ImpostorCheck(const PreparedTask& task, const std::vector<PlannedRun>& plan,
                const std::vector<std::shared_ptr<const CaseData>>& data)
      : task_(task), plan_(plan), data_(data) {}

  // True if the outputs are right in every run. `input`: which one there is to copy; -1 = none.
  bool passes(Impostor impostor, int input = -1) const {
    for (std::size_t o = 0; o < task_.definition.outputs.size(); ++o) {
      const double mean = mean_of(o);
      for (std::size_t r = 0; r < plan_.size(); ++r) {
        if (!passes_run(impostor, input, o, r, mean)) return false;
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

  bool passes_run(Impostor impostor, int input, std::size_t o, std::size_t r, double mean) const {
    const ResolvedCase& resolved = task_.cases[plan_[r].case_index];
    const ResolvedTensor& output = *resolved.find(task_.definition.outputs[o].name);
    Material material{mean, nullptr, nullptr};
    if (input >= 0) {
      const auto index = static_cast<std::size_t>(input);
      material = {mean, &resolved.tensors[index], &data_[r]->inputs[index]};
    }
    std::vector<std::byte> made_up(static_cast<std::size_t>(output.bytes()));
    return impostor(output, material, &made_up) &&
           compare_output(output, made_up, data_[r]->expected[o], task_.definition.tolerance,
                          factor_of(plan_[r].distribution))
               .passed();
  }

  const PreparedTask& task_;
  const std::vector<PlannedRun>& plan_;
  const std::vector<std::shared_ptr<const CaseData>>& data_;
};

}  // namespace

void CpuEvaluator::prepare(std::string_view definition_json, std::uint64_t seed,
                           const Cancelled& cancelled) {
  const auto task = tasks_.get(definition_json);
  check_reference(*task, seed);
  check_naive(*task, definition_json, seed, cancelled);
}

// Runs the reference on all runs of an evaluation, and holds made-up outputs against it: one that
// passes all of them would be rewarded for nothing.
void CpuEvaluator::check_reference(const PreparedTask& task, std::uint64_t seed) {
  const TaskDefinition& definition = task.definition;
  std::vector<std::shared_ptr<const CaseData>> data;
  const auto plan = plan_runs(task.n_cases, task.cases.size() - task.n_cases,
                              settings_.runs_per_case, mix_seed(seed, task.digest));
  for (const PlannedRun& run : plan) data.push_back(data_.get(task, run));

  const ImpostorCheck check(task, plan, data);
  const auto refuse = [&](const std::string& what) {
    invalid_argument(located(definition, "reference") + "an output that is " + what +
                     " passes all checks: change the inputs' values, the cases or the tolerance, "
                     "so that the work has to be done");
  };
  if (check.passes(fill_zero)) refuse("all zero");
  if (check.passes(fill_mean)) refuse("one number everywhere");
  for (std::size_t i = 0; i < definition.inputs.size(); ++i) {
    if (check.passes(fill_copy, static_cast<int>(i))) {
      refuse("a copy of the input '" + definition.inputs[i].name + "'");
    }
  }
}

void CpuEvaluator::check_naive(const PreparedTask& task, std::string_view definition_json,
                               std::uint64_t seed, const Cancelled& cancelled) {
  if (task.definition.naive.empty()) return;
  EvaluationRequest request;
  request.definition_json = definition_json;
  request.source = task.definition.naive;
  request.stages = KRL_STAGE_COMPILE | KRL_STAGE_CHECK | KRL_STAGE_HOLDOUT;
  request.seed = seed;
  const EvaluationRecord record = evaluate(request, cancelled);
  if (record.verdict == KRL_VERDICT_OK) return;
  invalid_argument(located(task.definition, "naive") + "the naive kernel is not right: " +
                   std::string(verdict_name(record.verdict)) + ": " + record.why);
}

}  // namespace krl
