// A reward plugin as the core uses it.
#pragma once

#include <vector>

#include "core/base/result.hpp"
#include "core/plugin/instance.hpp"

namespace krl {

// Thread-safe as Instance is.
class Reward {
 public:
  static constexpr Kind kKind = Kind::kReward;

  explicit Reward(Instance instance) : instance_(std::move(instance)) {}

  const Component& component() const { return instance_.component(); }

  // One finite number for each turn.
  Result<std::vector<double>> score(const std::vector<const krl_turn*>& turns) const;

 private:
  Instance instance_;
};

}  // namespace krl
