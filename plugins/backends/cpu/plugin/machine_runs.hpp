// Executes planned runs of a compiled candidate: places inputs and poison into an arena, writes the
// job, has it executed, reads the outputs. Runs that do not fit the arena together, because of large
// scratch buffers, become several jobs. Used by one thread at a time.
#pragma once

#include <kernelrl/abi.h>

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "plugins/backends/cpu/plugin/machine_process.hpp"
#include "plugins/backends/evaluator/check/case_data.hpp"
#include "plugins/backends/evaluator/source/launch_schedule.hpp"
#include "plugins/process/shared_memory.hpp"

namespace krl::cpu {

// Kernels as the machine executes them.
struct MachineModule {
  std::string ptx;
  std::vector<std::string> kernels;  // mangled, in the order of the schedule's
  // Returns how many blocks of a launch of kernel launch.kernel the GPU holds at once.
  std::function<std::uint32_t(const Launch&)> resident_blocks = [](const Launch&) { return 0; };
};

struct MachineRun {
  evaluator::PlannedRun plan;
  std::shared_ptr<const evaluator::CaseData> data;
};

// True if the tensors of these runs fit the machine's memory together.
bool has_room(const evaluator::PreparedTask& task, const std::vector<evaluator::PlannedRun>& runs);
// Throws Failure(KRL_INVALID_ARGUMENT) if not, before anything is filled with them.
void require_room(const evaluator::PreparedTask& task,
                  const std::vector<evaluator::PlannedRun>& runs);

class MachineRuns {
 public:
  MachineRuns(const evaluator::PreparedTask& task, const evaluator::LaunchSchedule& schedule,
              std::vector<MachineRun> runs, std::uint64_t order_seed);

  // True if there is a result. If not, the candidate is the reason: see verdict() and why(). Throws
  // Failure(KRL_UNAVAILABLE) if the machine could not do its work, KRL_CANCELLED.
  bool execute(const MachineOptions& options, const MachineModule& module,
               const std::function<bool()>& cancelled);

  const std::vector<MachineRun>& runs() const { return runs_; }
  const Result& result() const { return result_; }
  Verdict verdict() const { return verdict_; }
  const std::string& why() const { return why_; }
  // Memory of a tensor (by its index in the case) after run `run`.
  std::span<const std::byte> tensor(std::size_t run, std::size_t index) const;

 private:
  // One job: runs whose buffers are in the arena at the same time.
  struct Batch {
    std::size_t first = 0;  // index into runs_
    Job job;
  };

  void lay_out();
  void fill(const Batch& batch);
  void write_job(const MachineOptions& options, const MachineModule& module, Batch* batch);
  Argument argument_of(const evaluator::PlannedRun& plan, const LaunchArgument& argument) const;
  bool fail(Verdict verdict, std::string why);
  bool execute(const MachineOptions& options, const MachineModule& module, const Batch& batch,
               const std::function<bool()>& cancelled);
  void add(Result result, std::size_t first);
  void keep_tensors(const Batch& batch);

  const evaluator::PreparedTask& task_;
  const evaluator::LaunchSchedule& schedule_;
  std::vector<MachineRun> runs_;
  std::vector<Batch> batches_;
  process::SharedMemory arena_;  // memory of a batch
  std::vector<std::vector<std::byte>>
      kept_;  // tensors of finished runs, if there are several batches
  Result result_;
  Verdict verdict_ = Verdict::kOk;
  std::string why_;
};

}  // namespace krl::cpu
