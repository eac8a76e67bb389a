// A backend plugin as the core uses it.
#pragma once

#include <cstdint>
#include <kernelrl/evaluation.hpp>
#include <string>

#include "core/base/result.hpp"
#include "core/plugin/instance.hpp"
#include "core/task/task.hpp"

namespace krl::core {

struct BackendInfo {
  std::uint32_t concurrency = 1;  // evaluations that it can use at a time, at least 1
  std::uint32_t signals = 0;      // KRL_SIGNAL_*
  std::string toolchain, device;
  bool real_sizes = false;  // are tasks that name real sizes timed at those?
};

struct EvaluateOptions {
  std::uint32_t stages = KRL_STAGE_COMPILE | KRL_STAGE_CHECK | KRL_STAGE_TIME | KRL_STAGE_COUNTERS;
  std::uint64_t seed = 0;                 // inputs and orders follow from it
  Contract contract = Contract::kDevice;  // of the candidate
};

// Calls block, and are made again while the backend is unavailable. Thread-safe as Instance is.
class Backend {
 public:
  static constexpr Kind kKind = Kind::kBackend;

  explicit Backend(Instance instance) : instance_(std::move(instance)) {}

  const Component& component() const { return instance_.component(); }
  Result<BackendInfo> describe() const;

  // An error says which contracts the backend does take.
  static Status check_contract(const Component& backend, Contract contract);

  // Checks the task itself: its reference, its naive kernel, that nothing trivial passes.
  Status prepare(const Task& task, const EvaluateOptions& options) const;

  // Evaluates `source` as a kernel for `task`. An error is an infrastructure error of the
  // backend, never a fault of the candidate; or the backend does not take the contract.
  Result<Evaluation> evaluate(const Task& task, const std::string& source,
                              const EvaluateOptions& options) const;

 private:
  Result<Evaluation> evaluate_once(const Task& task, const std::string& source,
                                   const EvaluateOptions& options) const;

  const krl_backend_v& table() const {
    return *static_cast<const krl_backend_v*>(component().raw->table);
  }

  Instance instance_;
};

}  // namespace krl::core
