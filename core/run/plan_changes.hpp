// What may change in a plan between a run and its resumption: only what cannot touch the iterations
// already done. Pure functions of the resolved plans' text.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"

namespace krl {

struct PlanChange {
  std::string key;            // "learn.optimizer.lr", "stage[1].iterations"
  std::string before, after;  // TOML text; empty where the key was absent
};

// The keys whose values differ, in alphabetical order.
Result<std::vector<PlanChange>> plan_changes(std::string_view before, std::string_view after);

// Whether a run in stage `current_stage` (counted from 0) may go on under the changed plan. Free to
// change are: run.name, run.threads, plugins.path, [checkpoint], and [log];
// `iterations`, `epochs` and `until` of the current stage; everything of later stages. Anything
// else is kFailedPrecondition, with every offending key listed.
Status check_resumable(const std::vector<PlanChange>& changes, int current_stage);

}  // namespace krl
