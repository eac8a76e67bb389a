#include "plugins/backends/evaluator/source/launch_schedule.hpp"

#include <algorithm>

namespace krl::evaluator {

std::string described(const SourceError& error) {
  return "line " + std::to_string(error.line) + ", column " + std::to_string(error.column) + ": " +
         error.message;
}

Checked<LaunchSchedule, SourceError> read_schedule(std::string_view source,
                                                   const TaskDefinition& task,
                                                   std::span<const ResolvedCase> cases,
                                                   const LaunchLimits& limits) {
  const auto program = read_launches(source, task);
  if (!program) return program.error();
  LaunchSchedule schedule;
  for (const ResolvedCase& resolved_case : cases) {
    auto resolved = resolve_launches(*program, resolved_case, limits);
    if (!resolved) return resolved.error();
    schedule.programs.push_back(*std::move(resolved));
  }
  for (const LaunchDirective& launch : program->launches) {
    const auto known = std::find(schedule.kernels.begin(), schedule.kernels.end(), launch.kernel);
    if (known == schedule.kernels.end()) schedule.kernels.push_back(launch.kernel);
  }
  return schedule;
}

}  // namespace krl::evaluator
