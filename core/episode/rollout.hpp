// A rollout: all episodes of an iteration, run side by side.
#pragma once

#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"
#include "core/episode/episode.hpp"
#include "core/episode/evaluations.hpp"
#include "core/episode/prompt.hpp"
#include "core/episode/retrieval.hpp"
#include "core/episode/sampler.hpp"
#include "core/episode/score.hpp"
#include "core/plan/plan.hpp"
#include "core/plugin/policy.hpp"

namespace krl::core {

// The policy that answers in an episode.
struct Player {
  const Policy& sampler;
  PolicyInfo info;                    // describes the sampler
  const Policy* tokenizer = nullptr;  // makes the prompts' tokens; null: the sampler does
  std::int64_t context_tokens = 0;    // the least of all who see them; 0 = unknown
  // The sampler has the weights of this version and of none that is newer. Nothing: it is not known
  // which it has.
  std::optional<std::uint64_t> version = {};
};

// The dependencies of episodes; all of them outlive the rollout.
struct RolloutContext {
  const Player& player;
  const Evaluations& evaluations;
  const Scorer& scorer;
  const PromptBuilder& prompts;
  const Retrieval* retrieval;  // null: prompts show no documents
  const RolloutSettings& settings;
  std::uint64_t run_seed = 0;
  int iteration = 0;  // over the whole run; part of every seed
  // Called on the calling thread: `done` of `of` answers are sampled ("sample") or evaluated
  // ("evaluate").
  std::function<void(std::string_view phase, int done, int of)> progress;
  std::size_t first_group = 0;  // the number of the first task's group; part of its seeds
};

// Returns the sampling parameters of the settings.
Sampling sampling_of(const RolloutSettings& settings);

struct RolloutResult {
  std::vector<Episode> episodes;
  SamplerLoad load;
  Metrics sampling;  // figures that the policy reported of its calls
  RetrievalReport retrieval;
  // The first cause for which a turn ended in an infrastructure error; without one, for which the
  // policy refused a prompt.
  std::optional<Error> lost;
};

// Adds the episodes of `more`, whose groups come after those of `rollout`, and its statistics. The
// load is the mean over the episodes.
void append(RolloutResult& rollout, RolloutResult more);

// Returns an error, with its first cause, if all turns of a rollout ended in an infrastructure
// error.
Status check_not_all_lost(const RolloutResult& rollout);

// Runs `settings.group_size` episodes for each of `tasks`, in order: group first_group + i has the
// episodes of tasks[i]. With waves the episodes depend on the seeds alone, not on which finishes
// first. A turn whose answer, evaluation or score is lost ends its episode as an infrastructure
// error; any other error of an episode ends the rollout. REQUIRES: a policy that supports the
// settings' batching.
Result<RolloutResult> run_rollout(const std::vector<const Task*>& tasks,
                                  const RolloutContext& context);

}  // namespace krl::core
