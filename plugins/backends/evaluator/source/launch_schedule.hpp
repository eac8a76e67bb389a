// A candidate's launches, resolved for every case.
#pragma once

#include <kernelrl/launch.hpp>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace krl::evaluator {

struct LaunchSchedule {
  std::shared_ptr<const LaunchProgram> directives;
  std::vector<std::string> kernels;       // kernels that the launches name, each once
  std::vector<ResolvedProgram> programs;  // per case
};

// "line 3, column 5: message".
std::string described(const SourceError& error);

// The launches of `source` for `cases`.
Checked<LaunchSchedule, SourceError> read_schedule(const CudaSource& source,
                                                   const TaskDefinition& task,
                                                   std::span<const ResolvedCase> cases,
                                                   const LaunchLimits& limits);

// The same launches for other cases.
Checked<LaunchSchedule, SourceError> schedule_at(std::span<const ResolvedCase> cases,
                                                 const LaunchSchedule& known,
                                                 const LaunchLimits& limits);

}  // namespace krl::evaluator
