// The real backend plugins and the project's tasks, for tests: loaded from the build tree,
// everything through the C boundary.
#pragma once

#include <kernelrl/sdk.hpp>
#include <kernelrl/testing.hpp>
#include <map>
#include <string>
#include <vector>

namespace krl::testing {

struct TaskText {
  std::string id, definition_json;
  krl_task c() const;
};

// All tasks of configs/tasks, by id.
const std::map<std::string, TaskText>& all_tasks();

// What came out of one evaluation.
struct Outcome {
  Outcome() = default;
  Outcome(const Evaluation& evaluation, int verdicts);

  Verdict verdict = Verdict::kInfraError;
  std::string why, toolchain, device, log;
  std::vector<std::string> diagnostics;  // "line:column: text"
  std::vector<Case> cases;
  std::map<std::string, double> values;  // each of the first case that has it
  std::vector<std::string> kernels;
  std::vector<Kernel> records;  // of the kernels
  int verdicts = 0;             // times that verdict() was called

  bool operator==(const Outcome& other) const;
};

class TaskBackend {
 public:
  TaskBackend(const std::string& id, Table options);

  // Throws krl::Failure if the call fails.
  Outcome evaluate(const TaskText& task, const std::string& source,
                   std::uint32_t stages = kAllStages, std::uint64_t seed = 1,
                   std::uint32_t contract = KRL_CONTRACT_DEVICE) const;
  void prepare(const TaskText& task, std::uint64_t seed = 1) const;
  BackendDescription describe() const;

  static constexpr std::uint32_t kAllStages =
      KRL_STAGE_COMPILE | KRL_STAGE_CHECK | KRL_STAGE_TIME | KRL_STAGE_COUNTERS | KRL_STAGE_HOLDOUT;
  const Call& call() const { return instance_.call(); }

 private:
  Instance<krl_backend_v> instance_;
};

class CpuInstance : public TaskBackend {
 public:
  explicit CpuInstance(Table options) : TaskBackend("cpu", std::move(options)) {}
};

// One without a cache, for all tests of a process.
const CpuInstance& uncached_backend();

// The naive kernel of a task.
std::string naive_of(const TaskText& task);

}  // namespace krl::testing
