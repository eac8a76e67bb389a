// Planned runs of a compiled candidate, executed by the emulator: places inputs and poison into an
// arena, writes the job, starts `kernelrl-emulator` in its sandbox, reads the result and the
// outputs. Used by one thread at a time; the worker's process ends with execute().
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "plugins/backends/cpu/runner_protocol.hpp"
#include "plugins/backends/evaluator/check/case_data.hpp"
#include "plugins/backends/evaluator/process/descriptor.hpp"
#include "plugins/backends/evaluator/sandbox/sandbox.hpp"
#include "plugins/backends/evaluator/source/launch_schedule.hpp"

namespace krl {

struct EmulatorOptions {
  std::string launcher, program;
  std::uint64_t memory_bytes = std::uint64_t{8} << 30;
  std::chrono::milliseconds time_limit{30'000};
  std::uint64_t work_limit = 50'000'000;
  std::uint32_t max_shared_bytes = 48 << 10;  // of the GPU that is emulated
};

struct EmulatedRun {
  PlannedRun plan;
  std::shared_ptr<const CaseData> data;
};

class EmulatedRuns {
 public:
  EmulatedRuns(const PreparedTask& task, const LaunchSchedule& schedule,
               std::vector<EmulatedRun> runs, std::uint64_t order_seed);

  // Throws Failure(KRL_UNAVAILABLE) if the emulator did not do its work twice, KRL_CANCELLED. False
  // if it was killed because the limit of time or memory was reached: see `why`.
  bool execute(const EmulatorOptions& options, std::string_view module,
               const std::function<bool()>& cancelled);

  const std::vector<EmulatedRun>& runs() const { return runs_; }
  const emulator::Result& result() const { return result_; }
  const std::string& why() const { return why_; }
  // Memory of a tensor (by its index in the case) after run `run`.
  std::span<const std::byte> tensor(std::size_t run, std::size_t index) const;

 private:
  void lay_out();
  void fill();
  void write_job(const EmulatorOptions& options);
  emulator::Argument argument_of(const PlannedRun& plan, const LaunchArgument& argument,
                                 std::uint32_t kernel, std::size_t index) const;
  bool wants_other_widths() const;
  bool start(const EmulatorOptions& options, std::string_view module,
             const std::function<bool()>& cancelled);

  const PreparedTask& task_;
  const LaunchSchedule& schedule_;
  std::vector<EmulatedRun> runs_;
  emulator::Job job_;
  SharedMemory arena_;
  emulator::Result result_;
  std::string why_;
};

}  // namespace krl
