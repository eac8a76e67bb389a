#include "plugins/backends/evaluator/source/launch_schedule.hpp"

#include <algorithm>
#include <utility>

namespace krl::evaluator {

void LaunchSchedule::add_kernels(const std::vector<ResolvedProgram>& of) {
  for (const ResolvedProgram& program : of) {
    for (const ResolvedLaunch& launch : program.launches) {
      if (std::ranges::find(kernels, launch.kernel) == kernels.end())
        kernels.push_back(launch.kernel);
    }
  }
}

void LaunchSchedule::set_shared_bytes(std::vector<std::int64_t> of_kernels) {
  shared_bytes = std::move(of_kernels);
  if (shared_bytes.empty()) return;
  for (ResolvedProgram& program : programs) {
    for (ResolvedLaunch& launch : program.launches) {
      const auto k = std::ranges::find(kernels, launch.kernel) - kernels.begin();
      if (static_cast<std::size_t>(k) < shared_bytes.size())
        launch.shared_bytes = shared_bytes[static_cast<std::size_t>(k)];
    }
  }
}

std::string described(const SourceError& error) {
  return "line " + std::to_string(error.line) + ", column " + std::to_string(error.column) + ": " +
         error.message;
}

Checked<LaunchSchedule, SourceError> read_schedule(const ScannedSource& source,
                                                   const TaskDefinition& task,
                                                   std::span<const ResolvedCase> cases,
                                                   const LaunchLimits& limits) {
  auto program = read_launches(source, task);
  if (!program) return program.error();
  auto resolved = schedule_at(
      cases, {std::make_shared<const LaunchProgram>(*std::move(program)), {}, {}}, limits);
  if (!resolved) return resolved.error();
  LaunchSchedule schedule = *std::move(resolved);
  schedule.add_kernels(schedule.programs);
  schedule.redundant_threads =
      source.language == Language::kTriton && !source.mentions("inline_asm_elementwise");
  return schedule;
}

Checked<LaunchSchedule, SourceError> schedule_at(std::span<const ResolvedCase> cases,
                                                 const LaunchSchedule& known,
                                                 const LaunchLimits& limits) {
  LaunchSchedule schedule{known.directives, known.kernels, {}, {}, known.redundant_threads};
  for (const ResolvedCase& resolved_case : cases) {
    auto resolved = resolve_launches(*known.directives, resolved_case, limits);
    if (!resolved) {
      SourceError error = resolved.error();
      if (cases.size() > 1) error.message += " (case " + resolved_case.label + ")";
      return error;
    }
    schedule.programs.push_back(*std::move(resolved));
  }
  schedule.set_shared_bytes(known.shared_bytes);
  return schedule;
}

}  // namespace krl::evaluator
