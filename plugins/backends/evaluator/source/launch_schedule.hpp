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
  // The dynamic shared memory of each kernel, if its compiler decides about that, which Triton's
  // does; else empty.
  std::vector<std::int64_t> shared_bytes = {};
  // Threads of a block repeat what others do: of a compiler that makes such code, without assembly of
  // the candidate's own.
  bool redundant_threads = false;

  // Adds the kernels of these programs that are not known yet.
  void add_kernels(const std::vector<ResolvedProgram>& of);
  void set_shared_bytes(std::vector<std::int64_t> of_kernels);
};

// "line 3, column 5: message".
std::string described(const SourceError& error);

// The launches of `source` for `cases`.
Checked<LaunchSchedule, SourceError> read_schedule(const ScannedSource& source,
                                                   const TaskDefinition& task,
                                                   std::span<const ResolvedCase> cases,
                                                   const LaunchLimits& limits);

// The same launches for other cases, whose kernels may not be among the known ones.
Checked<LaunchSchedule, SourceError> schedule_at(std::span<const ResolvedCase> cases,
                                                 const LaunchSchedule& known,
                                                 const LaunchLimits& limits);

}  // namespace krl::evaluator
