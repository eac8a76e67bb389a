#include "core/episode/rollout.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace krl::core {

std::vector<Group> groups_of(const std::vector<const Task*>& tasks, int round, std::size_t first) {
  std::vector<Group> groups;
  for (const Task* task : tasks) groups.push_back({{round, first++}, task});
  return groups;
}

Sampling sampling_of(const RolloutSettings& s) {
  return {static_cast<std::uint32_t>(s.max_tokens), s.temperature, s.top_p,
          static_cast<std::int32_t>(s.top_k), s.stop};
}

bool is_lost(const std::vector<Episode>& episodes) {
  return std::ranges::all_of(episodes, [](const Episode& episode) {
    return std::ranges::all_of(episode.turns, &TurnRecord::infra_error);
  });
}

Status check_not_all_lost(const RolloutResult& rollout) {
  if (!rollout.lost || !is_lost(rollout.episodes)) return {};
  return failure(rollout.lost->code,
                 fmt::format("every turn was lost, the first because: {}", rollout.lost->message));
}

}  // namespace krl::core
