// An instance of a component: created from its table of the plan, destroyed with this object.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <nlohmann/json_fwd.hpp>

#include "core/base/result.hpp"
#include "core/plugin/call.hpp"
#include "core/plugin/component.hpp"
#include "core/plugin/tries.hpp"

namespace krl {

// Thread-safe: calls on an instance whose component is not KRL_THREAD_SAFE wait for one another.
class Instance {
 public:
  // `table` is the component's table of the plan, checked, with defaults filled in. Runs the
  // plugin's create(); `scope` must outlive the instance.
  static Result<Instance> create(const Component& component, const nlohmann::json& table,
                                 const CallScope& scope);

  const Component& component() const { return *component_; }
  const CallScope& scope() const { return *scope_; }

  // Calls `function(self, context)` and gives its status as a Status that names the plugin and
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

  // The tries of one of its calls.
  Tries tries() const { return Tries(*scope_, *given_up_); }

  // Makes a call, or several, of which nothing remains where it fails: `attempt()`, until it gives
  // something other than kUnavailable or has had its tries.
  template <class Attempt>
  auto patiently(const Attempt& attempt) const -> decltype(attempt()) {
    return krl::patiently(tries(), attempt);
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

}  // namespace krl
