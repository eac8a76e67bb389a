// An executor runs compiled candidates for the evaluator: on the emulated machine, or on GPUs. The
// evaluator reads, compiles and plans; the executor runs, judges and times. Thread-safe.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "plugins/backends/evaluator/candidate/candidate_builder.hpp"
#include "plugins/backends/evaluator/check/evaluation_plan.hpp"
#include "plugins/backends/evaluator/evaluation_record.hpp"
#include "plugins/backends/evaluator/evaluation_request.hpp"

namespace krl::evaluator {

struct EvaluatorSettings {
  Sizes sizes = Sizes::kReal;
  Protocol protocol = Protocol::kKernelrl;
  std::size_t runs_per_case = 5;            // each with a separate seed
  std::filesystem::path cache_folder = {};  // empty: nothing is kept on disk
  std::uint64_t cache_bytes = std::uint64_t{1} << 30;
};

// An evaluation under way. Borrows all but what was built and planned.
struct Attempt {
  CandidateBuilder& builder;
  const PreparedTask& task;  // with the cases that were asked for
  const EvaluationRequest& request;
  const Cancelled& cancelled;
  EvaluationRecord* record;
  CandidateText text = {};  // empty with host code
  Built built = {};
  Obstacles obstacles = {};           // fresh cases without runs
  std::vector<PlannedRun> runs = {};  // all others, in the order of the cases

  const LaunchSchedule& schedule() const { return built.schedule; }
  const compiled::CompiledModule& module() const { return built.module(); }
  bool ok() const { return record->verdict == Verdict::kOk; }
};

class Executor {
 public:
  virtual ~Executor() = default;

  // The name of the device: "NVIDIA H200", "emulated Jetson Orin Nano".
  virtual const std::string& device() const = 0;
  // The digest of everything but a request that decides an evaluation.
  virtual std::string identity(const CudaCompiler& compiler,
                               const EvaluatorSettings& settings) const = 0;
  // See CandidateBuilder.
  virtual std::string ptx_machine() const { return {}; }
  // False if candidates are compiled and not run.
  virtual bool runs() const { return true; }

  // Runs an evaluation, and again if a process that it needs was killed.
  virtual EvaluationRecord patiently(const std::function<EvaluationRecord()>& evaluate,
                                     const Cancelled& cancelled);

  // Builds a candidate with host code and adds its kernels' figures; false if the record has the
  // reason why not. Only called by backends that take such candidates.
  virtual bool build_host(Attempt* attempt);

  // Looks at a candidate that compiled, before it is run or if it is not.
  virtual void examine(const Attempt& attempt) = 0;

  // Runs the candidate: fills in the record's cases, its verdict if it is not ok, and the times that
  // were asked for. Throws Failure for infrastructure errors.
  virtual void execute(const Attempt& attempt) = 0;

  // Checks a task's reference in the runs of an evaluation of it. Throws
  // Failure(KRL_INVALID_ARGUMENT, "file:line:column: …") if it is not fit to be learned from.
  virtual void check_reference(const PreparedTask& task, std::vector<PlannedRun> runs,
                               const Cancelled& cancelled) = 0;
};

}  // namespace krl::evaluator
