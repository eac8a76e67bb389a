#include "core/episode/stop.hpp"

#include <cmath>

namespace krl::core {

Result<bool> stops(const Episode& episode, const std::optional<Condition>& stop_when) {
  if (!stop_when) return false;
  const TurnRecord& turn = episode.turns.back();
  const double speedup = turn.evaluation.speedup();
  const RealNames values = {{"score", turn.score.total},
                            {"best_score", *episode.best_score()},
                            {"turn", static_cast<double>(episode.turns.size())},
                            {"speedup", std::isfinite(speedup) ? speedup : 0.0},
                            {"compiled", turn.evaluation.compiled() ? 1.0 : 0.0},
                            {"passed", turn.evaluation.passed() ? 1.0 : 0.0}};
  const auto stop = stop_when->expression.condition(values);
  if (!stop) return invalid("rollout.stop_when: " + stop.error().message);
  return *stop;
}

}  // namespace krl::core
