#include "core/plugin/reward.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "core/plugin/views.hpp"

namespace krl::core {

Result<std::vector<double>> Reward::score(const std::vector<const krl_turn*>& turns) const {
  const auto& table = *static_cast<const krl_reward_v*>(component().raw->table);
  return instance_.patiently([&]() -> Result<std::vector<double>> {
    std::vector<double> scores(turns.size(), std::numeric_limits<double>::quiet_NaN());
    Call call(component(), instance_.scope());
    KRL_TRY(instance_.run(call, "score", [&](void* self, auto* context) {
      return table.score(self, context, turns.data(), turns.size(), scores.data());
    }));
    for (std::size_t i = 0; i < scores.size(); ++i) {
      if (std::abs(scores[i]) <= kMostScore) continue;  // false for NaN
      return failure(call.broken(
          "score", fmt::format("it gave {} for a turn of task '{}'; scores must lie in -{:g}..{:g}",
                               scores[i], view(turns[i]->task->id), kMostScore, kMostScore)));
    }
    return scores;
  });
}

}  // namespace krl::core
