#include "plugins/backends/cpu/plugin/work_growth.hpp"

#include <algorithm>

namespace krl::cpu {
using namespace evaluator;
namespace {

constexpr double kSlack = 2;

double longest_growth(const ResolvedCase& from, const ResolvedCase& to) {
  double growth = 1;
  for (const auto& [axis, size] : to.axes)
    growth = std::max(growth, static_cast<double>(size) / static_cast<double>(from.axes.at(axis)));
  return growth;
}

}  // namespace

WorkGrowth::WorkGrowth(const PreparedTask& task, const MachineRuns& runs) {
  for (std::size_t r = 0; r < runs.result().runs.size(); ++r) {
    const PlannedRun& plan = runs.runs()[r].plan;
    const ResolvedCase& shape = task.cases[plan.case_index];
    if (!plan.counted || (shown_ != nullptr && elements_of(shape) < elements_of(*shown_))) continue;
    shown_ = &shape;
    work_ = 0;
    for (const LaunchReport& launch : runs.result().runs[r])
      work_ += static_cast<double>(launch.counters.instructions);
  }
}

double WorkGrowth::most_at(const ResolvedCase& shape) const {
  if (shown_ == nullptr) return 0;
  const double elements =
      static_cast<double>(elements_of(shape)) / static_cast<double>(elements_of(*shown_));
  return kSlack * work_ * elements * std::max(elements, longest_growth(*shown_, shape));
}

}  // namespace krl::cpu
