// The judges of kernels: a backend, those before it, a sanitizer and KernelBench's rules, as far as
// they are asked for.
#pragma once

#include <kernelrl/evaluation.hpp>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/latest_used.hpp"
#include "core/episode/judge.hpp"
#include "core/plan/plan.hpp"
#include "core/plugin/components.hpp"
#include "service/kernels/kernelbench_verdict.hpp"

namespace krl::service {
using namespace core;

struct JudgeOptions {
  BackendSettings backend = {};  // and those around it; as a plan has them, or backend_settings()
  std::string protocol = {};     // "kernelbench": its verdict as well; empty: none
  std::optional<Contract> contract = {};  // none: device
  bool holdout = false;                   // run the hold-outs and the whole pool of shapes as well
};

// A backend with changed options, "gpu=H100"; those before it, "nvrtc execute=off arch=sm_90a"; and
// one as its sanitizer, unless that is empty.
Result<BackendSettings> backend_settings(const std::string& id,
                                         const std::vector<std::string>& changes,
                                         const std::vector<std::string>& before,
                                         const std::string& sanitizer, const Registry& registry);

struct JudgedKernel {
  Evaluation evaluation;
  std::optional<KernelBenchVerdict> kernelbench;  // if the options name that protocol
};

// {"evaluation": {…}, "kernelbench": {…}}
nlohmann::ordered_json to_json(const JudgedKernel& judged);

// Thread-safe; calls block.
class KernelJudges {
 public:
  // Opens the backends; the protocol needs the same one a second time, with KernelBench's rules.
  // `components` outlives the result.
  static Result<KernelJudges> open(const JudgeOptions& options, Components& components);

  // The judges of a plan.
  static KernelJudges of(Judge judge, const EvaluateOptions& options, Components& components) {
    return KernelJudges(std::move(judge), nullptr, options, components);
  }

  // The number of tasks that are known to be prepared: the latest used.
  static constexpr std::size_t kMostPrepared = 4096;

  // The options of an ordinary call.
  const EvaluateOptions& options() const { return options_; }

  // Prepares a task once; later calls return the same, unless the infrastructure failed.
  Status prepare(const Task& task, const EvaluateOptions& options);

  // Prepares the task first. A kernel in Python has host code, whatever the options say.
  Result<JudgedKernel> judge(const Task& task, const std::string& source, EvaluateOptions options);

  const std::string& device() const { return own_.info().device; }
  const BackendInfo& info() const { return own_.info(); }
  const Component& backend() const { return own_.backend(); }
  std::string identity() const { return own_.identity(); }
  std::size_t at_a_time() const { return own_.info().concurrency; }

 private:
  KernelJudges(Judge own, const Backend* by_protocol, const EvaluateOptions& options,
               Components& components)
      : own_(std::move(own)),
        by_protocol_(by_protocol),
        options_(options),
        components_(&components) {}

  KernelBenchVerdict judge_by_protocol(const Task& task, const std::string& source,
                                       EvaluateOptions options, const Evaluation& own);

  struct Prepared {
    std::mutex mutex;  // guards `status`; held while the task is prepared
    std::optional<Status> status;
  };

  Judge own_;
  const Backend* by_protocol_;  // null: no protocol
  EvaluateOptions options_;
  Components* components_;
  std::unique_ptr<std::mutex> mutex_ = std::make_unique<std::mutex>();  // guards `components_`
  using PreparedTasks = LatestUsed<std::shared_ptr<Prepared>>;          // keyed by digests
  std::unique_ptr<PreparedTasks> prepared_ = std::make_unique<PreparedTasks>(kMostPrepared);
};

}  // namespace krl::service
