// The judges of the kernels of `kernelrl eval`, according to its command line.
#pragma once

#include <kernelrl/evaluation.hpp>
#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "cli/command_line.hpp"
#include "cli/kernelbench_verdict.hpp"
#include "core/episode/judge.hpp"
#include "core/plugin/components.hpp"

namespace krl::cli {
using namespace core;

struct JudgedKernel {
  Evaluation evaluation;
  std::optional<KernelBenchVerdict> kernelbench;  // used with --protocol kernelbench
};

// {"evaluation": {…}, "kernelbench": {…}}
nlohmann::ordered_json to_json(const JudgedKernel& judged);

// Thread-safe; calls block.
class KernelJudges {
 public:
  // Opens the judges of --backend with its --set, --sanitizer, --contract, --holdout and
  // --protocol; the protocol needs the same backend a second time, with KernelBench's rules.
  // `components` outlives it.
  static Result<KernelJudges> open(const CommandLine& line, Components& components);

  // Prepares a task once; later calls return the same.
  Status prepare(const Task& task);

  // Prepares the task first. A kernel in Python has host code, regardless of `contract` or
  // --contract.
  Result<JudgedKernel> judge(const Task& task, const std::string& source,
                             std::optional<Contract> contract = {});

  const std::string& device() const { return own_.info().device; }
  std::size_t at_a_time() const { return own_.info().concurrency; }

 private:
  KernelJudges(Judge own, const Backend* by_protocol, const EvaluateOptions& options,
               Components& components)
      : own_(own), by_protocol_(by_protocol), options_(options), components_(&components) {}

  KernelBenchVerdict judge_by_protocol(const Task& task, const std::string& source,
                                       EvaluateOptions options, const Evaluation& own);

  struct Prepared {
    std::once_flag once;
    Status status;
  };

  Judge own_;
  const Backend* by_protocol_;  // null without --protocol
  EvaluateOptions options_;
  Components* components_;
  std::unique_ptr<std::mutex> mutex_ = std::make_unique<std::mutex>();  // guards the members below
  std::map<std::string, Prepared> prepared_;                            // keyed by the task's id
};

}  // namespace krl::cli
