// A rollout: groups of episodes that are played side by side. Defines what is played, by whom, and
// what comes of it.
#pragma once

#include <functional>
#include <memory>
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
#include "core/task/source_identity.hpp"

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

// A group to be played.
struct Group {
  GroupId id;
  const Task* task = nullptr;
  // The turns that its episodes begin with, oldest first. Where the context is too small for the
  // prompt, the oldest are left out.
  std::vector<TurnRecord> given = {};
  std::string begun_with = {};  // see Episode
  // Kernels that are not judged again; null: none. See RolloutSettings::distinct.
  std::shared_ptr<const KernelIds> judged = {};
};

// Returns a group for each of the tasks, the first of them with the index `first`.
std::vector<Group> groups_of(const std::vector<const Task*>& tasks, int round,
                             std::size_t first = 0);

// A group that has been played.
struct PlayedGroup {
  GroupId id;
  std::vector<Episode> episodes;
  RetrievalReport retrieval;
  // The first cause for which a turn ended in an infrastructure error, and the first for which the
  // policy refused a prompt.
  std::optional<Error> lost, refused;
};

// The dependencies of episodes; all of them outlive the rollout.
struct RolloutContext {
  const Evaluations& evaluations;
  const Scorer& scorer;
  const PromptBuilder& prompts;
  const Retrieval* retrieval;  // null: prompts show no documents
  const RolloutSettings& settings;
  std::uint64_t run_seed = 0;
  // Called on a thread of the rollout: `done` of `of` answers are sampled ("sample") or evaluated
  // ("evaluate").
  std::function<void(std::string_view phase, int done, int of)> progress;
  // Called on that thread: true if something can be learned from the group, so that no spare has to
  // replace it.
  std::function<bool(const PlayedGroup&)> teaches = {};
};

// Returns the sampling parameters of the settings.
Sampling sampling_of(const RolloutSettings& settings);

// The groups that one iteration learns from, or that a policy is measured by.
struct RolloutResult {
  std::vector<Episode> episodes;  // in the order of their groups
  SamplerLoad load;
  Metrics sampling;  // figures that the policy reported of its calls
  RetrievalReport retrieval;
  // As in a group: what was lost, or else refused.
  std::optional<Error> lost;
};

// True if every turn ended in an infrastructure error.
bool is_lost(const std::vector<Episode>& episodes);

// Returns an error, with its first cause, if the whole rollout is lost.
Status check_not_all_lost(const RolloutResult& rollout);

}  // namespace krl::core
