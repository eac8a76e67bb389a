// The metrics of a rollout: of rewards, answers and kernels.
#pragma once

#include <string>
#include <vector>

#include "core/base/metrics.hpp"
#include "core/episode/episode.hpp"

namespace krl::core {

// Computes metrics over all turns but those that ended in an infrastructure error, which are only
// counted:
//   reward/{mean,std}, reward/<term>/mean, response_length/{mean,max,clip_ratio},
//   episode/{turns,best_reward}, infra_errors, of which reward/lost for want of a score,
//   cache/hit_rate, verdict/<name> (share), and kernel/… as below; turn_N/… per turn if an episode
//   may have several (`turns`), tier_N/… per tier of the task.
// The metrics of kernels are compile_rate, pass_rate, fast_1 and fast_2 (share of turns that pass
// and are more than 1 or 2 times as fast as the baseline: is_fast), flagged (share); over the
// passing, timed ones speedup_{median,geomean,capped}, capped being the mean of min(speedup, 3);
// timed, the share of the passing ones that have a time, if some lack it; within_noise, the share
// of those that the clock cannot tell from the baseline. kernel/{compile,pass}_rate_any and those
// of tiers are shares of the episodes in which some turn compiled, passed. Figures that no turn
// measured are left out.
Metrics rollout_metrics(const std::vector<Episode>& episodes, const std::vector<std::string>& terms,
                        std::int64_t turns);
void declare_rollout_metrics(MetricNames& names);

}  // namespace krl::core
