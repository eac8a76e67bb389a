// The component that this process serves: its calls by name, with their arguments and results as
// messages.
#pragma once

#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "plugins/isolation/component/call.hpp"

namespace krl::isolation {

// Thread-safe as far as the component is.
class ServedComponent {
 public:
  ServedComponent(std::string file, std::uint32_t kind, std::string id)
      : file_(std::move(file)), id_(std::move(id)), kind_(kind) {}

  // Makes a call and returns its value. "create" loads the plugin and makes the instance, "destroy"
  // ends it; the others are the functions of the kind's table. Throws a Failure, the component's or
  // one of its own.
  nlohmann::json answer(const std::string& name, const nlohmann::json& arguments, HostCall& call);

 private:
  using Function =
      std::function<nlohmann::json(void* self, const nlohmann::json& arguments, HostCall& call)>;

  void create(const nlohmann::json& options, HostCall& call);
  void add_functions();
  void add_reward(const krl_reward_v& table);
  void add_dataset(const krl_dataset_v& table);
  void add_backend(const krl_backend_v& table);
  void add_policy(const krl_policy_v& table);
  void add_learning(const krl_policy_v& table);

  const std::string file_, id_;
  const std::uint32_t kind_;
  const krl_component* component_ = nullptr;
  void* self_ = nullptr;
  std::map<std::string, Function> functions_;
};

}  // namespace krl::isolation
