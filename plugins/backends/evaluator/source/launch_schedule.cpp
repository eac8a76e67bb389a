#include "plugins/backends/evaluator/source/launch_schedule.hpp"

#include <algorithm>

#include "plugins/backends/evaluator/source/static_checks.hpp"

namespace krl::evaluator {
namespace {

bool has_launch(const CudaSource& source) {
  return std::ranges::any_of(source.comments, [](const LineComment& comment) {
    const std::size_t begin = comment.text.find_first_not_of(" \t");
    return comment.starts_line &&
           comment.text.compare(std::min(begin, comment.text.size()), 7, "@launch") == 0;
  });
}

}  // namespace

std::string described(const SourceError& error) {
  return "line " + std::to_string(error.line) + ", column " + std::to_string(error.column) + ": " +
         error.message;
}

Checked<LaunchSchedule, SourceError> read_schedule(const CudaSource& source,
                                                   const TaskDefinition& task,
                                                   std::span<const ResolvedCase> cases,
                                                   const LaunchLimits& limits) {
  if (is_ptx(source) && !has_launch(source))
    return SourceError{1, 1,
                       "PTX does not say what runs: begin with the line "
                       "`// @launch entry<<<grid, block>>>(arguments)`"};
  auto program = read_launches(source, task);
  if (!program) return program.error();
  LaunchSchedule schedule;
  for (const LaunchDirective& launch : program->launches) {
    const auto known = std::find(schedule.kernels.begin(), schedule.kernels.end(), launch.kernel);
    if (known == schedule.kernels.end()) schedule.kernels.push_back(launch.kernel);
  }
  schedule.directives = std::make_shared<const LaunchProgram>(*std::move(program));
  return schedule_at(cases, schedule, limits);
}

Checked<LaunchSchedule, SourceError> schedule_at(std::span<const ResolvedCase> cases,
                                                 const LaunchSchedule& known,
                                                 const LaunchLimits& limits) {
  LaunchSchedule schedule{known.directives, known.kernels, {}};
  for (const ResolvedCase& resolved_case : cases) {
    auto resolved = resolve_launches(*known.directives, resolved_case, limits);
    if (!resolved) {
      SourceError error = resolved.error();
      if (cases.size() > 1) error.message += " (case " + resolved_case.label + ")";
      return error;
    }
    schedule.programs.push_back(*std::move(resolved));
  }
  return schedule;
}

}  // namespace krl::evaluator
