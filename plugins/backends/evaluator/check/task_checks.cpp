#include "plugins/backends/evaluator/check/task_checks.hpp"

#include <kernelrl/values.hpp>
#include <string>

namespace krl::evaluator {
namespace {

[[noreturn]] void refuse(const TaskDefinition& task, std::string_view key, const std::string& why) {
  const std::string place = task.origin.locate(key);
  invalid_argument((place.empty() ? task.id : place) + ": " + why);
}

std::string description(const TaskDefinition& task, const Impostor& impostor) {
  switch (impostor.kind) {
    case Impostor::kZero:
      return "all zero";
    case Impostor::kMean:
      return "one number everywhere";
    case Impostor::kCopy:
      break;
  }
  return "a copy of the input '" + task.inputs[impostor.input].name + "'";
}

}  // namespace

bool is_tried(const Impostor& impostor, const PlannedRun& run) {
  return impostor.kind != Impostor::kZero || run.distribution == Distribution::kAsGiven;
}

void refuse_impostors(const TaskDefinition& task,
                      const std::function<bool(const Impostor&)>& passes) {
  std::vector<Impostor> impostors = {{Impostor::kZero}, {Impostor::kMean}};
  for (std::size_t i = 0; i < task.inputs.size(); ++i) impostors.push_back({Impostor::kCopy, i});
  for (const Impostor& impostor : impostors) {
    if (!passes(impostor)) continue;
    const bool zero = impostor.kind == Impostor::kZero;
    refuse(task, zero && task.origin.positions.contains("tolerance") ? "tolerance" : "reference",
           "an output that is " + description(task, impostor) +
               " passes all checks: change the inputs' values, the cases or the tolerance, so that "
               "the work has to be done");
  }
}

void require_right_naive(const TaskDefinition& task, const EvaluationRecord& naive) {
  if (naive.verdict == Verdict::kOk) return;
  refuse(
      task, "naive",
      "the naive kernel is not right: " + std::string(name_of(naive.verdict)) + ": " + naive.why);
}

}  // namespace krl::evaluator
