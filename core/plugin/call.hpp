// One call into a plugin: lends it the host's services and keeps what it reports.
#pragma once

#include <kernelrl/abi.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <string>

#include "core/base/metrics.hpp"
#include "core/base/result.hpp"
#include "core/plugin/active_call.hpp"
#include "core/plugin/component.hpp"

namespace krl {

// A status of the boundary; of a number that it does not know, kInternal.
Code code_of(krl_status status);

// How often a call is made again while a component is unavailable: see core/plugin/tries.hpp.
struct Retries {
  int count = 0;                           // after the first try
  std::chrono::duration<double> pause{0};  // before the first of them; each is twice the one before
};

// What all calls of a run share.
struct CallScope {
  using Clock = std::chrono::steady_clock;

  // Set once the user wants to stop; plugins poll it. Outlives every call.
  const std::atomic<bool>* stop = nullptr;
  std::chrono::seconds limit{0};  // that a call may take; 0 = any time
  Retries retries = {};

  // CLOCK_MONOTONIC nanoseconds, of a call that begins now; 0 = none.
  std::int64_t deadline_ns() const {
    if (limit.count() == 0) return 0;
    return std::chrono::nanoseconds(Clock::now().time_since_epoch() + limit).count();
  }
  // For a call that lasts as long as others come.
  CallScope without_limit() const { return {stop, {}, retries}; }
  bool cancelled() const { return stop != nullptr && stop->load(std::memory_order_relaxed); }
};

// Used by one thread, except that the plugin may report from any of its own threads.
class Call {
 public:
  Call(const Component& component, const CallScope& scope);
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  const krl_task_context* c() const { return &context_; }

  // Calls `function`, the plugin's, and gives its answer as a Status: "reward 'speedup' (score):
  // why". `name` says what it is.
  template <class Function>
  Status run(std::string_view name, const Function& function) const {
    krl_status status = KRL_OK;
    const auto thrown = enter(callee_of(component_), name, [&] { status = function(); });
    return thrown ? Status(failure(threw(name, *thrown))) : finish(status, name);
  }
  // Marks a breach of the boundary's rules by the plugin: "policy 'x' broke its contract in
  // sample(): why".
  Error broken(std::string_view function, std::string_view why) const;

  // The same of an exception that came out of `function`.
  Error threw(std::string_view function, std::string_view what) const;

  const Metrics& metrics() const { return metrics_; }

 private:
  Status finish(krl_status status, std::string_view function) const;
  static Call& of(const krl_task_context* c) { return *static_cast<Call*>(c->ctx); }
  static int32_t cancelled(const krl_task_context* c);
  static void progress(const krl_task_context* c, double done, krl_str what);
  static void log(const krl_task_context* c, int32_t level, krl_str message);
  static krl_status fail(const krl_task_context* c, krl_status status, krl_str why);
  static void metric(const krl_task_context* c, krl_str name, double value);

  const Component& component_;
  const CallScope scope_;
  krl_task_context context_;
  mutable std::mutex mutex_;
  std::string why_;
  Metrics metrics_;
};

}  // namespace krl
