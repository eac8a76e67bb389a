// The exploration of a stage: its rounds are drawn, played and judged, and what they found is
// remembered in the archive, in best/ and in the figures of discovery. Reinforcement learns from
// the rounds; a search does not. One thread.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "core/base/result.hpp"
#include "core/episode/rollout_engine.hpp"
#include "core/learn/archive.hpp"
#include "core/learn/curriculum.hpp"
#include "core/learn/judged.hpp"
#include "core/learn/outage.hpp"
#include "core/learn/stage_context.hpp"
#include "core/measure/discovery.hpp"

namespace krl::core {

// The choices that a stage makes of its exploration.
struct ExplorationChoices {
  // See RolloutContext::teaches.
  std::function<bool(const PlayedGroup&)> teaches = {};
  // Returns the tasks of a round instead of those that the curriculum drew for it.
  std::function<std::vector<const Task*>(std::int64_t round, std::vector<const Task*> drawn)>
      tasks = {};
};

class Exploration {
 public:
  // Goes on with the state in the context's position. `context` outlives it.
  explicit Exploration(const StageContext& context, ExplorationChoices choices = {});

  // The iteration in progress: over the whole run, and of this stage.
  int iteration() const { return context_.position.iteration + 1; }
  std::int64_t stage_iteration() const { return context_.position.stage_iteration + 1; }
  const Player& player() const { return *player_; }
  const Archive& archive() const { return archive_; }
  const Judged& judged() const { return judged_; }
  std::int64_t open_tier() const { return curriculum_.open_tier(); }

  // Groups that are begun from now on are played with the policy's present weights.
  Status publish();
  // True if no round is in play after that of this iteration.
  bool idle() const { return submitted_ == stage_iteration(); }

  // Plays the round of this iteration. If the plan asks for it, begins the next, by weights that
  // have not learned from this one.
  Result<RolloutResult> play(Metrics& metrics);
  // Takes in what the round found and what `tuned` did, which are episodes with kernels that no
  // policy wrote and become the last of the round's. Fails if the infrastructure is down.
  Status take_in(RolloutResult& rollout, std::vector<Episode> tuned, Metrics& metrics);
  // Lets the next tier open if this iteration's metrics say so. To be called last.
  void update(const Metrics& metrics) { curriculum_.update(metrics); }

  // Measures the hold-outs, by the player's weights.
  Status measure_holdouts(Metrics& metrics) const;

  // Puts its state into the position.
  void keep_state() const;

 private:
  void submit(std::int64_t last);
  std::vector<Group> groups_with_parents(const std::vector<const Task*>& tasks, int round,
                                         std::size_t first) const;
  void add_sampling(const RolloutResult& rollout, Metrics& metrics) const;
  void observe_groups(const std::vector<Episode>& episodes);
  Status at_iteration(Status status) const;
  RolloutContext rollout_context(const RolloutSettings& settings) const;
  RolloutContext own_context() const;
  bool remembers_judged() const;

  const StageContext& context_;
  const Settings& settings_;
  const ExplorationChoices choices_;
  Outage outage_;
  Curriculum curriculum_;
  Discovery discovery_;
  Archive archive_;
  Judged judged_;
  std::optional<Player> player_;  // answers from here on
  std::int64_t submitted_;        // rounds of the stage
  RolloutEngine engine_;          // the last to come and the first to go: it uses the others
};

}  // namespace krl::core
