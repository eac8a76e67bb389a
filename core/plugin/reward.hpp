// A reward plugin as the core uses it.
#pragma once

#include <vector>

#include "core/base/result.hpp"
#include "core/plugin/instance.hpp"

namespace krl::core {

// The largest score, and the least but for its sign: sums and squares of such keep their meaning.
inline constexpr double kMostScore = 1e9;

// Thread-safe as Instance is.
class Reward {
 public:
  static constexpr Kind kKind = Kind::kReward;

  explicit Reward(Instance instance) : instance_(std::move(instance)) {}

  const Component& component() const { return instance_.component(); }

  // One number for each turn, of kMostScore at most. The call is made again while the reward is
  // unavailable.
  Result<std::vector<double>> score(const std::vector<const krl_turn*>& turns) const;

 private:
  Instance instance_;
};

}  // namespace krl::core
