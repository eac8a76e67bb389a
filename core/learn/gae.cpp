#include "core/learn/gae.hpp"

#include <cstddef>

namespace krl::core {

std::vector<double> gae_advantages(const std::vector<Step>& steps, double lambda) {
  std::vector<double> advantages(steps.size(), 0.0);
  // State of the next step that is learned from, and of the masked steps on the way to it.
  double next_value = 0, next_advantage = 0, reward_between = 0, discount_between = 1;
  for (std::size_t t = steps.size(); t-- > 0;) {
    const Step& step = steps[t];
    const double reward = step.reward + step.discount * reward_between;
    const double discount = step.discount * discount_between;
    if (step.masked) {
      reward_between = reward;
      discount_between = discount;
      continue;
    }
    const double surprise = reward + discount * next_value - step.value;
    advantages[t] = surprise + discount * lambda * next_advantage;
    next_value = step.value;
    next_advantage = advantages[t];
    reward_between = 0;
    discount_between = 1;
  }
  return advantages;
}

}  // namespace krl::core
