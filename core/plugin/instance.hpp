// An instance of a component: created from its table of the plan, destroyed with this object.
#pragma once

#include <memory>
#include <mutex>
#include <nlohmann/json_fwd.hpp>

#include "core/base/result.hpp"
#include "core/plugin/call.hpp"
#include "core/plugin/component.hpp"

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

 private:
  Instance(const Component& component, const CallScope& scope, void* self)
      : component_(&component),
        scope_(&scope),
        self_(self, {&component}),
        mutex_(std::make_unique<std::mutex>()) {}

  struct Destroy {
    const Component* component;
    void operator()(void* self) const;
  };

  const Component* component_;
  const CallScope* scope_;
  std::unique_ptr<void, Destroy> self_;
  std::unique_ptr<std::mutex> mutex_;
};

}  // namespace krl
