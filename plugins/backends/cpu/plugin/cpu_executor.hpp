// Runs candidates in the machine that executes PTX: comparison with the oracle, other orders of blocks
// and threads, estimated time. Thread-safe; each run is a process of its own.
#pragma once

#include <kernelrl/sdk.hpp>
#include <memory>
#include <set>
#include <string>

#include "plugins/backends/cpu/plugin/installation.hpp"
#include "plugins/backends/cpu/plugin/machine_runs.hpp"
#include "plugins/backends/cpu/plugin/time_estimate.hpp"
#include "plugins/backends/evaluator/evaluator.hpp"

namespace krl::cpu {

struct CpuSettings {
  std::string gpu;
  std::chrono::milliseconds run_limit{30'000};
  std::uint64_t memory_bytes = std::uint64_t{8} << 30;
  std::uint64_t work_limit = 50'000'000;
};

class CpuExecutor final : public evaluator::Executor {
 public:
  // Throws Failure(KRL_INVALID_ARGUMENT) if there is no such GPU.
  CpuExecutor(const CpuSettings& settings, const Installation& installation);

  const std::string& device() const override { return time_.device(); }
  std::string arch() const { return time_.arch(); }  // "sm_87", "sm_90a"
  std::string identity(const evaluator::CudaCompiler& compiler,
                       const evaluator::EvaluatorSettings& settings) const override;
  std::string ptx_machine() const override { return "cpu"; }
  void examine(const evaluator::Attempt& attempt) override;
  void execute(const evaluator::Attempt& attempt) override;
  void check_reference(const evaluator::PreparedTask& task, std::vector<evaluator::PlannedRun> runs,
                       const evaluator::Cancelled& cancelled) override;

 private:
  struct Baseline {
    std::vector<double> time_ns;       // per case; empty: the task has no naive kernel
    std::vector<double> loaded_bytes;  // per case: distinct bytes that it reads
  };

  // Runs the candidate. Null if it is the reason why there is no result: the record has the verdict.
  std::unique_ptr<MachineRuns> run(const evaluator::Attempt& attempt,
                                   const std::vector<evaluator::PlannedRun>& plan);
  void prove(const evaluator::Attempt& attempt);

  // Returns the work of the naive kernel in a run, in warp instructions; 0 if there is none, or it
  // fails there.
  std::uint64_t naive_work(const evaluator::Attempt& attempt, const evaluator::PlannedRun& plan);
  // If the work limit ended the runs at a fresh shape, and a right kernel may need that much: the
  // fresh shapes of which this is so.
  std::set<std::size_t> slow_shapes(const evaluator::Attempt& attempt, const MachineRuns& runs);

  void judge_or_blame_order(const evaluator::Attempt& attempt, const MachineRuns& runs);
  bool depends_on_order(const evaluator::Attempt& attempt, const evaluator::PlannedRun& wrong);
  void run_side_by_side(const evaluator::Attempt& attempt, const MachineRuns& runs);

  // Runs on the inputs that derive from the seed (plan_counted).
  std::shared_ptr<const Baseline> baseline(const evaluator::Attempt& attempt, std::uint64_t seed);
  void add_times(const evaluator::Attempt& attempt, const MachineRuns& runs);

  const CpuSettings settings_;
  const Installation installation_;
  const TimeEstimate time_;
  const MachineOptions machine_;
  evaluator::OracleClient oracle_;
  evaluator::CaseStore data_;
  evaluator::MemoryCache<Baseline> baselines_;
  evaluator::MemoryCache<std::uint64_t> works_;  // work of naive kernels
};

}  // namespace krl::cpu
