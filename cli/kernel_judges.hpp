// Who judges the kernels of `kernelrl eval`, as its command line says.
#pragma once

#include <kernelrl/evaluation.hpp>
#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>

#include "cli/command_line.hpp"
#include "core/episode/judge.hpp"
#include "core/plugin/components.hpp"

namespace krl::cli {
using namespace core;

struct JudgedKernel {
  Evaluation evaluation;
};

// {"evaluation": {…}}
nlohmann::ordered_json to_json(const JudgedKernel& judged);

// Thread-safe; calls block.
class KernelJudges {
 public:
  // Of --backend with its --set, --sanitizer, --contract and --holdout. `components` outlives it.
  static Result<KernelJudges> open(const CommandLine& line, Components& components);

  // Of a task once; later calls give the same.
  Status prepare(const Task& task);

  // Prepares the task first. A kernel in Python has host code, whatever --contract says.
  Result<JudgedKernel> judge(const Task& task, const std::string& source);

  std::size_t at_a_time() const { return std::max(1u, own_.info().concurrency); }

 private:
  KernelJudges(Judge own, const EvaluateOptions& options)
      : own_(std::move(own)), options_(options) {}

  struct Prepared {
    std::once_flag once;
    Status status;
  };

  Judge own_;
  EvaluateOptions options_;
  std::unique_ptr<std::mutex> mutex_ = std::make_unique<std::mutex>();  // of what follows
  std::map<std::string, Prepared> prepared_;                            // by the task's id
};

}  // namespace krl::cli
