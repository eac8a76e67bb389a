// An instance of a component under test.
#pragma once

#include <kernelrl/testing/call.hpp>
#include <kernelrl/testing/options.hpp>

#include <memory>
#include <stdexcept>
#include <utility>

namespace krl::testing {

// An instance of a component, destroyed with this object. `Vtable` is krl_reward_v, krl_dataset_v, …
//   auto data = plugin.create<krl_dataset_v>(KRL_DATASET, "numbers");
//   data.call().require(data.table().size(data.self(), data.context(), &n));
template <class Vtable>
class Instance {
 public:
  // Throws Failure if the component refuses its options.
  Instance(const krl_component& component, Table table)
      : component_(&component), call_(std::make_unique<Call>()) {
    const Options options(component, std::move(table));
    void* self = nullptr;
    call_->require(component.create(host(), options.config(), context(), &self));
    if (self == nullptr) throw std::runtime_error("create() succeeded without an instance");
    self_ = {self, component.destroy};
  }

  const Vtable& table() const { return *static_cast<const Vtable*>(component_->table); }
  void* self() const { return self_.get(); }
  Call& call() const { return *call_; }
  const krl_call* context() const { return call_->context(); }

 private:
  const krl_component* component_;
  std::unique_ptr<Call> call_;
  std::unique_ptr<void, void (*)(void*)> self_{nullptr, nullptr};
};

}  // namespace krl::testing
