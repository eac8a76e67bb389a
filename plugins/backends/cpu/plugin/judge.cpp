#include "plugins/backends/cpu/plugin/judge.hpp"

#include <algorithm>
#include <cstring>

#include "plugins/backends/evaluator/check/comparison.hpp"

namespace krl::cpu {
using namespace evaluator;
namespace {

struct Problem {
  Verdict verdict = Verdict::kOk;
  std::string why;
};

Verdict verdict_of(FaultKind kind) {
  if (kind == FaultKind::kWorkLimit || kind == FaultKind::kDeadlock) return Verdict::kTimeout;
  return Verdict::kRuntimeFault;
}

std::string index_text(const Dim3& index) {
  return "(" + std::to_string(index[0]) + ", " + std::to_string(index[1]) + ", " +
         std::to_string(index[2]) + ")";
}

Problem problem_of(const Fault& fault) {
  if (fault.kind == FaultKind::kUnsupported) {
    const std::string line = fault.line == 0 ? "" : " (line " + std::to_string(fault.line) + ")";
    return {Verdict::kRejected, "unsupported on cpu: " + fault.message + line};
  }
  std::string why(name_of(fault.kind));
  if (fault.line != 0) why += " at line " + std::to_string(fault.line);
  why += ": " + fault.message;
  if (!fault.kernel.empty()) {
    why += " (kernel " + fault.kernel + ", block " + index_text(fault.block) + ", thread " +
           index_text(fault.thread) + ")";
  }
  return {verdict_of(fault.kind), std::move(why)};
}

Problem problem_of(const LaunchError& error, const LaunchSchedule& schedule,
                   const MachineRuns& runs) {
  const PlannedRun& plan = runs.runs()[error.run].plan;  // and a launch: inconsistency() has looked
  const ResolvedLaunch& launch = schedule.programs[plan.case_index].launches[error.launch];
  int line = launch.line, column = launch.column;
  const auto index = static_cast<std::size_t>(error.argument);
  if (error.argument >= 0 && index < launch.arguments.size()) {
    line = launch.arguments[index].line;
    column = launch.arguments[index].column;
  }
  return {Verdict::kLaunchError, "line " + std::to_string(line) + ", column " +
                                     std::to_string(column) + ": " + error.message};
}

// The values of inputs that the candidate may not change.
std::optional<std::string> changed_input(const PreparedTask& task, const MachineRuns& runs,
                                         std::size_t run) {
  if (task.protocol == Protocol::kKernelBench) return std::nullopt;
  const MachineRun& planned = runs.runs()[run];
  const auto& tensors = task.cases[planned.plan.case_index].tensors;
  for (std::size_t i = 0; i < planned.data->inputs.size(); ++i) {
    const auto& before = planned.data->inputs[i];
    const bool same = std::memcmp(runs.tensor(run, i).data(), before.data(), before.size()) == 0;
    if (!tensors[i].is_output && !same) return "the input " + tensors[i].name + " was changed";
  }
  return std::nullopt;
}

// Describes unset values that may be why a run is wrong.
std::string unset_text(const Result& result, std::size_t run) {
  for (const Unset& unset : result.unset) {
    if (unset.run == run) {
      return "; perhaps because line " + std::to_string(unset.line) + " uses " + unset.what;
    }
  }
  return {};
}

// True if the case of a run comes before that of another one.
bool is_before(const MachineRuns& runs, std::size_t run, std::size_t other) {
  return runs.runs()[run].plan.case_index < runs.runs()[other].plan.case_index;
}

std::vector<Case> estimated_cases(const PreparedTask& task) {
  std::vector<Case> cases = untried_cases(task, task.cases.size());
  for (Case& c : cases) c.estimated = c.kind != CaseKind::kFresh;
  return cases;
}

}  // namespace

RunVerdict judge_run(const PreparedTask& task, const MachineRuns& runs, std::size_t run) {
  const MachineRun& planned = runs.runs()[run];
  const ResolvedCase& resolved = task.cases[planned.plan.case_index];
  RunVerdict verdict;
  if (auto changed = changed_input(task, runs, run)) return {false, *changed, 0, 0};
  for (std::size_t o = 0; o < task.definition.outputs.size(); ++o) {
    const ResolvedTensor* tensor = resolved.find(task.definition.outputs[o].name);
    const auto index = static_cast<std::size_t>(tensor - resolved.tensors.data());
    const Comparison comparison = compare_output(
        *tensor, runs.tensor(run, index), planned.data->expected[o], task.definition.tolerance);
    verdict.add(*tensor, comparison, planned.plan.counted ? Telling::kPlaces : Telling::kValues);
    for (const Unwritten& unwritten : runs.result().unwritten) {
      if (unwritten.run != run || unwritten.buffer != index) continue;
      verdict.add_unwritten(*tensor, static_cast<std::int64_t>(unwritten.first),
                            static_cast<std::int64_t>(unwritten.count));
    }
  }
  return verdict;
}

std::optional<std::size_t> judge(const PreparedTask& task, const LaunchSchedule& schedule,
                                 const MachineRuns& runs, EvaluationRecord* record) {
  if (record->cases.empty()) record->cases = estimated_cases(task);
  const Result& result = runs.result();
  const std::size_t finished = result.runs.size();
  std::optional<std::size_t> first_wrong;
  // Counted runs come last: the messages of the others tell more.
  for (const bool counted : {false, true}) {
    for (std::size_t r = 0; r < finished; ++r) {
      const PlannedRun& plan = runs.runs()[r].plan;
      if (plan.counted != counted) continue;
      const RunVerdict verdict = judge_run(task, runs, r);
      merge(verdict, plan, &record->cases[plan.case_index]);
      if (!verdict.passed && (!first_wrong || is_before(runs, r, *first_wrong))) first_wrong = r;
    }
  }
  if (first_wrong) {
    const Case& c = record->cases[runs.runs()[*first_wrong].plan.case_index];
    record->fail(Verdict::kWrongResult,
                 named(c) + ": " + c.detail + unset_text(result, *first_wrong));
  }
  if (!result.fault && !result.launch_error) return first_wrong;

  const Problem problem =
      result.fault ? problem_of(*result.fault) : problem_of(*result.launch_error, schedule, runs);
  const std::size_t stopped =
      runs.runs()[result.fault ? result.fault->run : result.launch_error->run].plan.case_index;
  stop(stopped, problem.verdict, problem.why, record);
  return first_wrong;
}

}  // namespace krl::cpu
