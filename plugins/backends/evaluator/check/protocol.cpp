#include "plugins/backends/evaluator/check/protocol.hpp"

#include <algorithm>

#include "plugins/backends/evaluator/check/case_data.hpp"

namespace krl::evaluator {
namespace {

// KernelBench at 423217d, src/kernelbench/eval.py: get_tolerance_for_precision, num_correct_trials.
constexpr double kTolerance = 1e-4, kTolerance16 = 1e-2;
constexpr std::uint64_t kTrials = 5;

bool is_short(const TensorDefinition& tensor) {
  return tensor.dtype == DType::kFloat16 || tensor.dtype == DType::kBFloat16;
}

}  // namespace

PreparedTask as_kernelbench(PreparedTask task) {
  task.protocol = Protocol::kKernelBench;
  task.digest += "/kernelbench";
  const auto first = task.cases.begin() +
                     static_cast<std::ptrdiff_t>(task.n_real > 0 ? task.n_small() : std::size_t{0});
  const auto last = task.cases.begin() + static_cast<std::ptrdiff_t>(task.n_cases);
  task.cases = std::vector<ResolvedCase>(first, last);
  task.n_cases = task.cases.size();
  task.n_holdouts = 0;
  task.pool = {};
  task.launchable = {};
  const auto& outputs = task.definition.outputs;
  const bool shorter = std::any_of(outputs.begin(), outputs.end(), is_short);
  task.definition.tolerance.rtol = task.definition.tolerance.atol =
      shorter ? kTolerance16 : kTolerance;
  for (ResolvedCase& resolved : task.cases) resolved.terms = 0;
  return task;
}

std::vector<PlannedRun> plan_kernelbench(const PreparedTask& task, const RunSeeds& seeds) {
  std::vector<PlannedRun> runs;
  for (std::size_t c = 0; c < task.n_cases; ++c) {
    for (std::uint64_t trial = 0; trial < kTrials; ++trial) {
      runs.push_back({c, mix_seed(mix_seed(seeds.shared, c), trial), Distribution::kAsGiven,
                      RunOrder::kForward, trial == 0});
    }
  }
  return runs;
}

}  // namespace krl::evaluator
