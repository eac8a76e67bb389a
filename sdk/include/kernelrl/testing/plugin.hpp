// A plugin under test, loaded from its file or linked in, and instances of its components.
#pragma once

#include <kernelrl/testing/call.hpp>
#include <kernelrl/testing/instance.hpp>
#include <kernelrl/testing/instances.hpp>
#include <kernelrl/testing/options.hpp>
#include <kernelrl/testing/turn_builder.hpp>

#include <dlfcn.h>

#include <cmath>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace krl::testing {

// A reward term under test.
class RewardInstance : public Instance<krl_reward_v> {
 public:
  using Instance::Instance;

  std::uint32_t needs() const { return table().needs; }  // KRL_SIGNAL_*

  double score(const TurnBuilder& turn) const { return scores({turn}).front(); }

  // One call for all turns. Throws std::runtime_error if a score is missing or not finite.
  std::vector<double> scores(const std::vector<TurnBuilder>& turns) const {
    std::vector<const krl_turn*> pointers;
    pointers.reserve(turns.size());
    for (const TurnBuilder& turn : turns) pointers.push_back(turn.c());
    std::vector<double> out(turns.size(), std::numeric_limits<double>::quiet_NaN());
    call().require(table().score(self(), context(), pointers.data(), pointers.size(), out.data()));
    for (const double score : out) {
      if (!std::isfinite(score)) throw std::runtime_error("the score is not a finite number");
    }
    return out;
  }
};

class Plugin {
 public:
  // Loads a .krl.so and never unloads it. Throws std::runtime_error if it is not a plugin.
  explicit Plugin(const std::string& path) {
    void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (library == nullptr) throw std::runtime_error(dlerror());
    void* entry = dlsym(library, KRL_PLUGIN_ENTRY);
    if (entry == nullptr) throw std::runtime_error(path + ": no " KRL_PLUGIN_ENTRY);
    c_ = reinterpret_cast<krl_plugin_entry>(entry)(host());
    if (c_ == nullptr) throw std::runtime_error(path + ": " KRL_PLUGIN_ENTRY " returned nothing");
  }
  // A plugin that is linked into the test: Plugin(krl_plugin_v1).
  explicit Plugin(krl_plugin_entry entry) : c_(entry(host())) {}

  const krl_plugin* c() const { return c_; }

  const krl_component& component(std::uint32_t kind, const std::string& id) const {
    for (std::size_t i = 0; i < c_->n_components; ++i) {
      if (c_->components[i]->kind == kind && view(c_->components[i]->id) == id)
        return *c_->components[i];
    }
    throw std::runtime_error("the plugin has no '" + id + "' of that kind");
  }
  template <class Vtable>
  Instance<Vtable> create(std::uint32_t kind, const std::string& id, Table options = {}) const {
    return Instance<Vtable>(component(kind, id), std::move(options));
  }
  RewardInstance reward(const std::string& id, Table options = {}) const {
    return RewardInstance(component(KRL_REWARD, id), std::move(options));
  }
  DatasetInstance dataset(const std::string& id, Table options = {}) const {
    return DatasetInstance(component(KRL_DATASET, id), std::move(options));
  }
  BackendInstance backend(const std::string& id, Table options = {}) const {
    return BackendInstance(component(KRL_BACKEND, id), std::move(options));
  }
  PolicyInstance policy(const std::string& id, Table options = {}) const {
    return PolicyInstance(component(KRL_POLICY, id), std::move(options));
  }

 private:
  const krl_plugin* c_;
};

}  // namespace krl::testing
