// A rollout: all episodes of an iteration, run side by side.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"
#include "core/episode/episode.hpp"
#include "core/episode/evaluations.hpp"
#include "core/episode/prompt.hpp"
#include "core/episode/sampler.hpp"
#include "core/episode/score.hpp"
#include "core/plan/plan.hpp"
#include "core/plugin/policy.hpp"

namespace krl {

// What episodes need; all of it outlives the rollout.
struct RolloutContext {
  const Policy& policy;
  const Evaluations& evaluations;
  const Scorer& scorer;
  const PromptBuilder& prompts;
  const RolloutSettings& settings;
  std::int64_t context_tokens = 0;  // of the policy; 0 = unknown
  std::uint64_t run_seed = 0;
  int iteration = 0;  // over the whole run; part of every seed
  // On the calling thread: `done` of `of` answers sampled ("sample") or evaluated ("evaluate").
  std::function<void(std::string_view phase, int done, int of)> progress;
};

// How answers are sampled.
Sampling sampling_of(const RolloutSettings& settings);

struct RolloutResult {
  std::vector<Episode> episodes;
  SamplerLoad load;
};

// Runs `settings.group_size` episodes for each of `tasks`, in order: groups[i] has the episodes of
// tasks[i]. With waves the episodes depend on the seeds alone, not on what finishes first. The
// error of any episode ends the rollout. REQUIRES: a policy that can do the settings' batching.
Result<RolloutResult> run_rollout(const std::vector<const Task*>& tasks,
                                  const RolloutContext& context);

}  // namespace krl
