// A backend plugin as the core uses it.
#pragma once

#include <cstdint>
#include <kernelrl/evaluation.hpp>
#include <memory>
#include <semaphore>
#include <string>

#include "core/base/result.hpp"
#include "core/plugin/instance.hpp"
#include "core/task/task.hpp"

namespace krl::core {

struct BackendInfo {
  std::uint32_t declared = 1;     // evaluations that it can run at a time, at least 1
  std::uint32_t concurrency = 1;  // the number it gets: no more than its scope allows
  std::uint32_t signals = 0;      // KRL_SIGNAL_*
  std::string toolchain, device;
  bool real_sizes = false;  // are tasks that name real sizes timed at those?
};

struct EvaluateOptions {
  std::uint32_t stages = KRL_STAGE_COMPILE | KRL_STAGE_CHECK | KRL_STAGE_TIME | KRL_STAGE_COUNTERS;
  std::uint64_t seed = 0;                 // inputs and orders follow from it
  Contract contract = Contract::kDevice;  // contract of the candidate
  const CallScope* scope = nullptr;  // cancels and limits this call; null: as all of the backend's
};

// Calls block while as many others are under way as the backend takes at a time, and are made again
// while it is unavailable. Thread-safe as Instance is.
class Backend {
 public:
  static constexpr Kind kKind = Kind::kBackend;

  // Starts the backend, by asking it to describe itself.
  static Result<Backend> open(Instance instance);

  const Component& component() const { return instance_.component(); }
  const BackendInfo& info() const { return info_; }

  // The error lists the contracts that the backend does take.
  static Status check_contract(const Component& backend, Contract contract);

  // Checks the task itself: its reference, its naive kernel, that nothing trivial passes.
  Status prepare(const Task& task, const EvaluateOptions& options) const;

  // Evaluates `source` as a kernel for `task`. An error is an infrastructure error of the
  // backend, never a fault of the candidate; or the backend does not take the contract.
  // `took_ms`, if not null: the duration of the last call, without its wait for others.
  Result<Evaluation> evaluate(const Task& task, const std::string& source,
                              const EvaluateOptions& options, double* took_ms = nullptr) const;

 private:
  Backend(Instance instance, BackendInfo info);
  Result<Evaluation> evaluate_once(const Task& task, const std::string& source,
                                   const EvaluateOptions& options, const CallScope& scope) const;

  // Makes `attempt(scope)` under the scope of the call, as often as its tries allow.
  template <class Attempt>
  auto patiently(const EvaluateOptions& options, const Attempt& attempt) const;

  Instance instance_;
  BackendInfo info_;
  std::unique_ptr<std::counting_semaphore<>> gate_;  // limits concurrent calls
};

}  // namespace krl::core
