// An instance of a component, and the calls into it.
#pragma once

#include <kernelrl/abi.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "core/base/log.hpp"
#include "core/base/metrics.hpp"
#include "core/base/result.hpp"
#include "core/plugin/active_call.hpp"
#include "core/plugin/component.hpp"

namespace krl::core {

// Returns the host side of the boundary, which the core lends to every plugin: the one host of this
// process, passed to entry points and to create().
const krl_host* host();

// A status of the boundary; of a number that it does not know, kInternal.
Code code_of(krl_status status);

// How often a call is repeated while a component is unavailable: see Tries.
struct Retries {
  int count = 0;                           // after the first try
  std::chrono::duration<double> pause{0};  // before the first of them; each is twice the one before
};

// The data that all calls of a run share.
struct CallScope {
  using Clock = std::chrono::steady_clock;
  using Log = std::function<void(Severity, const std::string& message)>;
  static constexpr std::uint32_t kMostThreads = 1024;  // the maximum of run.threads

  // Set once the user asks to stop; plugins poll it. Outlives every call.
  const std::atomic<bool>* stop = nullptr;
  std::chrono::seconds limit{0};  // limit of a call; 0 = none
  Retries retries = {};
  std::uint32_t threads = kMostThreads;  // bounds the calls of a backend that run at a time
  // Gets what components log, on any thread; null: the process's log does. Outlives every call.
  const Log* log = nullptr;

  // CLOCK_MONOTONIC nanoseconds, of a call that begins now; 0 = none.
  std::int64_t deadline_ns() const {
    if (limit.count() == 0) return 0;
    return std::chrono::nanoseconds(Clock::now().time_since_epoch() + limit).count();
  }
  // Returns a scope for a call that lasts as long as others arrive.
  CallScope without_limit() const { return {stop, {}, retries, threads, log}; }
  bool cancelled() const { return stop != nullptr && stop->load(std::memory_order_relaxed); }
};

// One call into a plugin: lends it the host's services and keeps what it reports. Used by one
// thread, except that the plugin may report from any of its own threads.
class Call {
 public:
  Call(const Component& component, const CallScope& scope);
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  const krl_call* c() const { return &context_; }

  // Calls `function`, the plugin's, and returns its answer as a Status: "reward 'speedup' (score):
  // why". `name` is the name of the call.
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
  static Call& of(const krl_call* c) { return *static_cast<Call*>(c->ctx); }
  static int32_t cancelled(const krl_call* c);
  static void progress(const krl_call* c, double done, krl_str what);
  static void log(const krl_call* c, int32_t level, krl_str message);
  static krl_status fail(const krl_call* c, krl_status status, krl_str why);
  static void metric(const krl_call* c, krl_str name, double value);

  const Component& component_;
  const CallScope scope_;
  krl_call context_;
  mutable std::mutex mutex_;
  std::string why_;
  Metrics metrics_;
};

// The tries of one call; one thread. KRL_UNAVAILABLE means the same for every kind of component: an
// infrastructure error that may be transient. So a call that changes nothing, or that is
// idempotent, is repeated after a pause; the caller decides what is lost if that does not help.
class Tries {
 public:
  // `given_up` belongs to the component's instance: set once a call has failed permanently, until
  // one succeeds. In between each call has one try, so that a component that is gone costs its
  // pauses once, not for every call.
  Tries(const CallScope& scope, std::atomic<bool>& given_up) : scope_(scope), given_up_(given_up) {}

  // Waits after a failed try, and returns OK if the call is to be made again. Otherwise returns the
  // result of the call: the error itself, or kCancelled if its scope was cancelled meanwhile.
  Status after(const Error& error);
  // After a try that did all of its work, or some: failures from here on are counted from zero.
  void succeeded();

 private:
  const CallScope& scope_;
  std::atomic<bool>& given_up_;
  int repeated_ = 0;
};

// Calls `attempt()`, which returns a Status or a Result, as often as `tries` allow.
template <class Attempt>
auto patiently(Tries tries, const Attempt& attempt) -> decltype(attempt()) {
  while (true) {
    auto result = attempt();
    if (result) {
      tries.succeeded();
      return result;
    }
    if (const Status again = tries.after(result.error()); !again) return failure(again.error());
  }
}

// An instance of a component: created from its table of the plan, destroyed with this object.
// Thread-safe: calls on an instance whose component is not KRL_THREAD_SAFE wait for one another.
class Instance {
 public:
  // `table` is the component's table of the plan, checked, with defaults filled in. Runs the
  // plugin's create(); `scope` must outlive the instance.
  static Result<Instance> create(const Component& component, const nlohmann::json& table,
                                 const CallScope& scope);

  const Component& component() const { return *component_; }
  const CallScope& scope() const { return *scope_; }

  // Calls `function(self, context)` and returns its status as a Status that names the plugin and
  // `name`. `call`, made by the caller, keeps the metrics.
  template <class Function>
  Status run(Call& call, std::string_view name, Function&& function) const {
    std::unique_lock<std::mutex> lock(*mutex_, std::defer_lock);
    if (!component_->thread_safe()) lock.lock();
    return run_beside(call, name, function);
  }

  // The same without waiting for other calls: where the boundary allows the overlap.
  template <class Function>
  Status run_beside(Call& call, std::string_view name, Function&& function) const {
    return call.run(name, [&] { return function(self_.get(), call.c()); });
  }

  // The tries of one of its calls, under its own scope or another.
  Tries tries() const { return tries(*scope_); }
  Tries tries(const CallScope& scope) const { return Tries(scope, *given_up_); }

  // Makes a call, or several, that leave nothing behind when they fail: `attempt()`, until it
  // returns something other than kUnavailable or has had its tries.
  template <class Attempt>
  auto patiently(const Attempt& attempt) const -> decltype(attempt()) {
    return krl::core::patiently(tries(), attempt);
  }

 private:
  Instance(const Component& component, const CallScope& scope, void* self)
      : component_(&component),
        scope_(&scope),
        self_(self, {&component}),
        mutex_(std::make_unique<std::mutex>()),
        given_up_(std::make_unique<std::atomic<bool>>(false)) {}

  struct Destroy {
    const Component* component;
    void operator()(void* self) const;
  };

  const Component* component_;
  const CallScope* scope_;
  std::unique_ptr<void, Destroy> self_;
  std::unique_ptr<std::mutex> mutex_;
  std::unique_ptr<std::atomic<bool>> given_up_;  // see Tries
};

}  // namespace krl::core
