// Evaluates candidates on the CPU, from source to record: static checks, compile, properties of the
// compiled code, runs in the machine, comparison with the oracle, estimated time. Thread-safe; a
// call blocks until its evaluation is done, and identical concurrent ones are done once.
#pragma once

#include <kernelrl/sdk.hpp>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "plugins/backends/compiled/compiled_module.hpp"
#include "plugins/backends/compiled/compute_capability.hpp"
#include "plugins/backends/cpu/plugin/installation.hpp"
#include "plugins/backends/cpu/plugin/machine_runs.hpp"
#include "plugins/backends/cpu/plugin/time_estimate.hpp"
#include "plugins/backends/evaluator/cache/evaluation_cache.hpp"
#include "plugins/backends/evaluator/check/case_data.hpp"
#include "plugins/backends/evaluator/compile/cuda_compiler.hpp"
#include "plugins/backends/evaluator/evaluation_record.hpp"
#include "plugins/backends/evaluator/evaluation_request.hpp"

namespace krl::cpu {

struct CpuSettings {
  std::string gpu;
  std::filesystem::path cuda;  // folder of NVRTC; empty = the usual places
  std::chrono::milliseconds compile_limit{10'000}, run_limit{30'000};
  std::uint64_t memory_bytes = std::uint64_t{8} << 30;
  std::uint64_t work_limit = 50'000'000;
  std::size_t runs_per_case = 2;
  Protocol protocol = Protocol::kKernelrl;
  std::filesystem::path cache_folder;  // empty: nothing is kept on disk
  std::uint64_t cache_bytes = std::uint64_t{1} << 30;
};

class CpuEvaluator {
 public:
  CpuEvaluator(CpuSettings settings, const Installation& installation);

  // Throws Failure for infrastructure errors, as krl::Backend::evaluate does.
  EvaluationRecord evaluate(const EvaluationRequest& request, const Cancelled& cancelled);

  // Throws Failure(KRL_INVALID_ARGUMENT, "file:line:column: …") if the task cannot be used.
  void prepare(std::string_view definition_json, std::uint64_t seed, const Cancelled& cancelled);

  const std::string& toolchain() const { return compiler_.name; }
  const std::string& device() const { return time_.device(); }
  OracleClient& oracle() { return oracle_; }

 private:
  // A source that was compiled: if its verdict is ok, to `module`.
  struct Compiled {
    CompileOutput output;  // without its module
    CompiledModule module;
    AssembledKernels kernels;  // the module's
    Verdict verdict = Verdict::kOk;
    std::string why;

    std::size_t bytes() const;
  };
  struct Baseline {
    std::vector<double> time_ns;       // per case; empty: the task has no naive kernel
    std::vector<double> loaded_bytes;  // per case: distinct bytes that it reads
  };

  // Evaluates through the cache, for any stages.
  EvaluationRecord evaluate_once(const EvaluationRequest& request, const Cancelled& cancelled);
  EvaluationRecord evaluate_new(const PreparedTask& task, const EvaluationRequest& request,
                                const Cancelled& cancelled);
  void execute(const PreparedTask& task, const PreparedTask& asked, LaunchSchedule schedule,
               const Compiled& module, const EvaluationRequest& request, const Cancelled& cancelled,
               EvaluationRecord* record);
  void prove(const PreparedTask& asked, const LaunchSchedule& schedule,
             std::vector<PlannedRun> plan, const Compiled& module, const EvaluationRequest& request,
             const Cancelled& cancelled, EvaluationRecord* record);
  void settle_launches(const PreparedTask& task, const LaunchSchedule& schedule,
                       const Compiled& module, EvaluationRecord* record) const;
  Checked<LaunchSchedule, SourceError> schedule_of(const PreparedTask& task,
                                                   std::string_view source,
                                                   std::size_t cases) const;
  std::shared_ptr<const Compiled> compiled(std::string_view source,
                                           const std::vector<std::string>& kernels,
                                           const Cancelled& cancelled);
  Compiled compile_new(std::string_view source, const std::vector<std::string>& kernels,
                       const Cancelled& cancelled) const;
  static std::shared_ptr<const Compiled> with_ptx(Compiled module, std::string_view ptx);
  std::unique_ptr<MachineRuns> run(const PreparedTask& task, const LaunchSchedule& schedule,
                                   const std::vector<PlannedRun>& plan, const Compiled& module,
                                   std::uint64_t seed, const Cancelled& cancelled,
                                   EvaluationRecord* record);
  // Returns the work of the naive kernel in a run, in warp instructions; 0 if there is none, or it
  // fails there.
  std::uint64_t naive_work(const PreparedTask& task, const PlannedRun& plan, std::uint64_t seed,
                           const Cancelled& cancelled);
  // If the work limit ended the runs at a fresh shape, and a right kernel may need that much: the
  // fresh shapes of which this is so.
  std::set<std::size_t> slow_shapes(const PreparedTask& task, const MachineRuns& runs,
                                    std::uint64_t seed, const Cancelled& cancelled);
  void judge_or_blame_order(const PreparedTask& task, const LaunchSchedule& schedule,
                            const MachineRuns& runs, const Compiled& module, std::uint64_t seed,
                            const Cancelled& cancelled, EvaluationRecord* record);
  void run_side_by_side(const PreparedTask& task, const LaunchSchedule& schedule,
                        const MachineRuns& runs, const Compiled& module, std::uint64_t seed,
                        const Cancelled& cancelled, EvaluationRecord* record);
  bool depends_on_order(const PreparedTask& task, const LaunchSchedule& schedule,
                        const PlannedRun& wrong, const Compiled& module, std::uint64_t seed,
                        const Cancelled& cancelled);
  // Runs on the inputs that derive from the seed (plan_counted).
  std::shared_ptr<const Baseline> baseline(const PreparedTask& task, std::uint64_t seed,
                                           const Cancelled& cancelled);
  void add_times(const PreparedTask& task, const MachineRuns& runs, const AssembledKernels& kernels,
                 const Baseline& baseline, EvaluationRecord* record) const;
  std::vector<PlannedRun> plan(const PreparedTask& asked, const EvaluationRequest& request) const;
  void check_reference(const PreparedTask& task, const EvaluationRequest& request);

  const CpuSettings settings_;
  const TimeEstimate time_;
  const ComputeCapability& gpu_;
  const CudaCompiler compiler_;
  const MachineOptions machine_;
  const std::string identity_;  // covers everything but the request that decides an evaluation
  OracleClient oracle_;
  CaseStore data_;
  TaskStore tasks_;  // small sizes: an emulator has no time for more
  MemoryCache<Compiled> modules_;
  EvaluationCache evaluations_;
  MemoryCache<Baseline> baselines_;
  MemoryCache<std::uint64_t> works_;  // work of naive kernels
};

}  // namespace krl::cpu
