// The permitted changes of a plan between a run and its resumption: only what cannot touch the
// iterations already done. Pure functions of the resolved plans' text.
#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"
#include "core/plan/node.hpp"

namespace krl::core {

struct PlanChange {
  std::string key;            // "learn.optimizer.lr", "stage[1].iterations"
  std::string before, after;  // TOML text; empty where the key was absent
};

// The keys of a plan whose values are defaults.
std::set<std::string> default_keys(const Node& plan);

// Returns the keys whose values differ, in alphabetical order. A key that was absent and has its
// default now, so one of `defaults`, does not count: the run is older than the key.
Result<std::vector<PlanChange>> plan_changes(std::string_view before, std::string_view after,
                                             const std::set<std::string>& defaults = {});

// How far a run has come.
struct Reached {
  int stage = 0;      // the one in progress, counted from 0; of a run that is over its last one
  bool over = false;  // all stages are done
};

// "learn.optimizer.lr: was 1e-6, is 1e-5"
std::string text_of(const PlanChange& change);

// Checks if the run may continue under the changed plan. These may change: keys that no result
// depends on (run.threads, [checkpoint], …: see the error); how much is sampled and learned from
// here on, such as learning rates and groups; `iterations`, `epochs` and `until` of the stage in
// progress; everything of later stages. A run that is over may be made longer by `iterations` and
// `until` of its last stage, or by more stages. Anything else is kFailedPrecondition; the error
// lists every such key, what may change, and how to begin another run, from what this one has
// `learned`: its newest checkpoint, or an empty path.
Status check_resumable(const std::vector<PlanChange>& changes, Reached reached,
                       const std::filesystem::path& learned);

}  // namespace krl::core
