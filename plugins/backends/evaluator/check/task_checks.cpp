#include "plugins/backends/evaluator/check/task_checks.hpp"

#include <algorithm>
#include <kernelrl/values.hpp>
#include <string>

#include "plugins/backends/evaluator/oracle/oracle_client.hpp"
#include "plugins/backends/evaluator/task_origin.hpp"

namespace krl::evaluator {
namespace {

// Draws of inputs; outputs that agree in all of them are not alike by chance.
constexpr std::uint64_t kDraws = 16;

[[noreturn]] void refuse(const TaskDefinition& task, std::string_view key, const std::string& why) {
  invalid_argument(origin_of(task, key) + ": " + why);
}

// A task without a tolerance uses the one of the defaults.
std::string_view tolerance_key(const TaskDefinition& task) {
  return task.origin.positions.contains("tolerance") ? "tolerance" : "reference";
}

std::string description(const TaskDefinition& task, const Impostor& impostor) {
  switch (impostor.kind) {
    case Impostor::kZero:
      return "an output '" + task.outputs[impostor.which].name + "' that is all zero";
    case Impostor::kMean:
      return "an output that is one number everywhere";
    case Impostor::kCopy:
      break;
  }
  return "an output that is a copy of the input '" + task.inputs[impostor.which].name + "'";
}

bool tells_nothing(const OutputTraits& output) { return !output.is_finite || output.accepts_zeros; }

void require_telling_outputs(
    const PreparedTask& task, const PlannedRun& run,
    const std::function<std::vector<OutputTraits>(const PlannedRun&)>& traits) {
  const bool is_once = task.kind_of(run.case_index) != CaseKind::kShown;
  if (run.distribution != Distribution::kAsGiven && !is_once) return;
  const TaskDefinition& definition = task.definition;
  PlannedRun as_given = run;
  as_given.distribution = Distribution::kAsGiven;
  std::vector<OutputTraits> outputs = traits(as_given);
  for (std::uint64_t d = 1; d < kDraws && std::ranges::any_of(outputs, tells_nothing); ++d) {
    PlannedRun draw = as_given;
    draw.seed = mix_seed(run.seed, d);
    const std::vector<OutputTraits> drawn = traits(draw);
    for (std::size_t o = 0; o < outputs.size(); ++o) {
      outputs[o].is_finite = outputs[o].is_finite || drawn[o].is_finite;
      outputs[o].accepts_zeros = outputs[o].accepts_zeros && drawn[o].accepts_zeros;
    }
  }
  const ResolvedCase& resolved = task.cases[run.case_index];
  for (std::size_t o = 0; o < outputs.size(); ++o) {
    const std::string output = "output '" + definition.outputs[o].name + "'";
    if (!outputs[o].is_finite) {
      throw reference_failure(definition, resolved,
                              {"the " + output +
                               " is not finite anywhere: change the reference or the inputs' "
                               "values, or leave out the size"});
    }
    if (outputs[o].accepts_zeros) {
      refuse(definition, tolerance_key(definition),
             "at " + resolved.label + ", an " + output +
                 " that is all zero is within the tolerance: make atol smaller than the values "
                 "there, and rtol than 1");
    }
  }
}

}  // namespace

bool is_tried(const Impostor& impostor, const PlannedRun& run) {
  return impostor.kind != Impostor::kZero || run.distribution == Distribution::kAsGiven;
}

void refuse_impostors(const TaskDefinition& task,
                      const std::function<bool(const Impostor&)>& passes) {
  std::vector<Impostor> impostors;
  for (std::size_t o = 0; o < task.outputs.size(); ++o) impostors.push_back({Impostor::kZero, o});
  impostors.push_back({Impostor::kMean});
  for (std::size_t i = 0; i < task.inputs.size(); ++i) impostors.push_back({Impostor::kCopy, i});
  for (const Impostor& impostor : impostors) {
    if (!passes(impostor)) continue;
    refuse(task, impostor.kind == Impostor::kZero ? tolerance_key(task) : "reference",
           description(task, impostor) +
               " passes all checks; change the input values, the cases or the tolerance so that it "
               "fails");
  }
}

void check_reference(const PreparedTask& task, std::vector<PlannedRun> runs,
                     const ReferenceProbe& probe) {
  for (const PlannedRun& run : runs) {
    probe.expect(run);
    require_telling_outputs(task, run, probe.traits);
  }
  // An impostor that passes the small cases alone has done as little work.
  std::erase_if(runs, [&](const PlannedRun& run) {
    return task.is_real(run.case_index) || task.kind_of(run.case_index) == CaseKind::kFresh;
  });
  refuse_impostors(task.definition,
                   [&](const Impostor& impostor) { return probe.passes(runs, impostor); });
}

void require_right_naive(const TaskDefinition& task, const EvaluationRecord& naive) {
  if (naive.verdict == Verdict::kOk) return;
  refuse(task, "naive",
         "the naive kernel fails: " + std::string(name_of(naive.verdict)) + ": " + naive.why);
}

}  // namespace krl::evaluator
