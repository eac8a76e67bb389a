// The names that the conditions of a plan may use. Constant; thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace krl {

// What `rollout.stop_when` sees after a turn of an episode:
//   score      of this turn            best_score  of the episode so far
//   turn       from 1                  speedup     Evaluation::speedup(); 0 if not timed
//   compiled   0 or 1                  passed      0 or 1
const std::vector<std::string>& stop_names();

// What a stage's `until` sees after an iteration: `iteration` (from 1, of the stage) and every
// metric, by its full name or, for the kernel's own, without the "kernel/": `pass_rate`.
// Returns the metric's full name ("iteration" stays), or nothing if no run writes such a metric.
// `rewards` are the names of the reward terms in force, `turns` the number of turns.
std::optional<std::string> resolve_metric(std::string_view name,
                                          const std::vector<std::string>& rewards,
                                          std::int64_t turns);

// Whether a run writes such a metric of a holdout dataset; `datasets`: their names in metrics.
bool is_holdout_metric(std::string_view name, const std::vector<std::string>& datasets);

// The names that `resolve_metric` knows, for messages: the kernel's by their short names, without
// those of single turns and tiers.
std::vector<std::string> metric_names(const std::vector<std::string>& rewards);

}  // namespace krl
