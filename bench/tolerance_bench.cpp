// The kernels of tests/tolerance, judged by a backend:
//
//   tolerance_bench BACKEND [ELEMENTS [SEEDS]]
//
// Names each right kernel that is refused and each wrong one that passes, then counts them. Without
// ELEMENTS, or with 0, each task has its own cases, hold-outs and fresh shapes; with it, one case
// whose largest tensor has about as many elements, within the task's ranges. SEEDS: evaluations of
// a kernel, each with separate inputs (1).
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <kernelrl/task_definition.hpp>
#include <map>
#include <string>
#include <vector>

#include "tests/task_kernels.hpp"
#include "tests/unit/backends/evaluator/cpu_fixture.hpp"

namespace {

using namespace krl;
using namespace krl::testing;

constexpr std::uint32_t kChecks = KRL_STAGE_COMPILE | KRL_STAGE_CHECK | KRL_STAGE_HOLDOUT;

double most_elements(const TaskDefinition& task, const IntegerNames& sizes) {
  const auto resolved = resolve_case(task, sizes);
  double most = 0;
  for (std::size_t i = 0; resolved && i < resolved->tensors.size(); ++i)
    most = std::max(most, static_cast<double>(resolved->tensors[i].elements));
  return most;
}

// The last case with each axis times `factor`, odd, within its range.
IntegerNames scaled(const TaskDefinition& task, double factor) {
  IntegerNames sizes = task.cases.back();
  for (const AxisRange& range : task.ranges) {
    const auto size = static_cast<std::int64_t>(factor * static_cast<double>(sizes[range.axis]));
    sizes[range.axis] = std::clamp(size | 1, range.low, range.high);
  }
  return sizes;
}

TaskText at_size(const TaskText& text, double elements) {
  TaskDefinition task = *parse_task_definition(text.definition_json);
  double low = 1, high = 1e9;
  for (int step = 0; step < 60; ++step) {
    const double middle = std::sqrt(low * high);
    (most_elements(task, scaled(task, middle)) < elements ? low : high) = middle;
  }
  task.cases = {scaled(task, high)};
  task.real.clear();
  task.holdout.clear();
  task.ranges.clear();
  return {text.id, to_json_text(task)};
}

enum class Judgement { kRight, kWrong, kNone };

Judgement judgement_of(const Outcome& outcome) {
  if (outcome.verdict == Verdict::kOk) return Judgement::kRight;
  const bool wrong =
      outcome.verdict == Verdict::kWrongResult || outcome.verdict == Verdict::kNondeterministic;
  return wrong ? Judgement::kWrong : Judgement::kNone;
}

// Prints a line for each kernel of which an evaluation did not come out as `expected`, then counts.
void judge(const BackendInstance& backend, const std::map<std::string, TaskText>& tasks,
           const char* folder, Judgement expected, std::uint64_t seeds) {
  const auto names = kernel_names(kToleranceKernels / folder);
  std::size_t judged = 0, misjudged = 0;
  for (const std::string& name : names) {
    const TaskKernel kernel = task_kernel(kToleranceKernels / folder, name);
    std::size_t right = 0, wrong = 0;
    std::string why;
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
      const Outcome outcome = backend.evaluate(tasks.at(kernel.task), kernel.source, kChecks, seed);
      const Judgement found = judgement_of(outcome);
      right += found == Judgement::kRight ? 1 : 0;
      wrong += found == Judgement::kWrong ? 1 : 0;
      if (found != expected) why = std::string(name_of(outcome.verdict)) + " " + outcome.why;
    }
    judged += right + wrong;
    misjudged += expected == Judgement::kRight ? wrong : right;
    if (why.empty()) continue;
    std::printf("%s, %s: right %zu times, wrong %zu times of %zu: %s\n", folder, name.c_str(),
                right, wrong, static_cast<std::size_t>(seeds), why.c_str());
    std::fflush(stdout);
  }
  std::printf(
      "%s: %zu kernels, %zu evaluations judged, %zu of them misjudged (%.1f %%)\n", folder,
      names.size(), judged, misjudged,
      100 * static_cast<double>(misjudged) / static_cast<double>(std::max<std::size_t>(judged, 1)));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: tolerance_bench BACKEND [ELEMENTS [SEEDS]]\n");
    return 2;
  }
  const double elements = argc > 2 ? std::strtod(argv[2], nullptr) : 0;
  const std::uint64_t seeds = argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 1;
  const BackendInstance backend(argv[1], Table{{"cache", "off"}});
  std::map<std::string, TaskText> tasks;
  for (const auto& [id, task] : all_tasks())
    tasks[id] = elements > 0 ? at_size(task, elements) : task;
  judge(backend, tasks, "right", Judgement::kRight, seeds);
  judge(backend, tasks, "wrong", Judgement::kWrong, seeds);
  return 0;
}
