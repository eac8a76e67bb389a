#include "core/learn/outage.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace krl::core {
namespace {

// One bad iteration may be an accident of the network, and is still learned from.
constexpr std::size_t kLongestOutage = 3;

// Returns the share of all turns that were lost to infrastructure.
double lost_share(const std::vector<Episode>& episodes) {
  double turns = 0, lost = 0;
  for (const Episode& episode : episodes) {
    for (const TurnRecord& turn : episode.turns) {
      const bool counts = !(turn.lost && episode.refused);
      turns += counts ? 1 : 0;
      lost += counts && turn.infra_error() ? 1 : 0;
    }
  }
  return turns == 0 ? 0 : lost / turns;
}

}  // namespace

Status Outage::add(const RolloutResult& rollout) {
  const double share = lost_share(rollout.episodes);
  if (share <= most_) {
    shares_.clear();
    return {};
  }
  if (shares_.empty()) first_ = rollout.lost;
  shares_.push_back(share);
  if (shares_.size() < kLongestOutage) return {};
  return failure(
      first_->code,
      fmt::format(
          "{} consecutive iterations lost more of their turns to infrastructure errors than run.max_infra_share = {} ({:.2f}), the first turn because: {}\nfix that and resume the run",
          shares_.size(), most_, fmt::join(shares_, ", "), first_->message));
}

}  // namespace krl::core
