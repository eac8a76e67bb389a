// Plays groups of episodes, on a thread of its own, while its owner does something else. Lives for a
// stage; used by one thread.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "core/base/result.hpp"
#include "core/episode/coroutine.hpp"
#include "core/episode/group_play.hpp"
#include "core/episode/rollout.hpp"

namespace krl::core {

class RolloutEngine {
 public:
  explicit RolloutEngine(RolloutContext context);
  // Ends the episodes in play after their turn.
  ~RolloutEngine();
  RolloutEngine(const RolloutEngine&) = delete;
  RolloutEngine& operator=(const RolloutEngine&) = delete;

  // Groups that are submitted from now on are played by `player`, which the settings' batching
  // suits.
  void publish(Player player) { player_ = std::make_shared<const Player>(std::move(player)); }

  // Begins to play these groups, together with those that are in play. When all are over, as many
  // `spares` as there are groups that do not teach are played, in their order, until enough teach
  // or no spare is left; none if every turn was lost. With waves the episodes depend on the seeds
  // alone, not on which finishes first. REQUIRES: a player.
  void submit(std::vector<Group> groups, std::vector<Group> spares = {});

  // Blocks until one more group is over; nothing if none is in play. An error is the run's, and
  // ends everything in play.
  Result<std::optional<PlayedGroup>> take();

  // Takes all groups that are in play.
  Result<RolloutResult> take_all();

 private:
  // The rest runs on the engine's thread.
  void start(const std::vector<Group>& groups, const std::shared_ptr<const Player>& player);
  void spawn(const std::shared_ptr<GroupPlay>& play, std::size_t member);
  void finish(GroupPlay& play);
  std::vector<Group> end_rollout();

  const RolloutContext context_;
  std::shared_ptr<const Player> player_;
  boost::asio::io_context io_{1};
  std::optional<Rollout> rollout_;  // while groups are in play
  std::size_t order_ = 0;           // number of episodes spawned
  // The groups that are to teach, and those that did; counted while spares may be needed.
  std::size_t wanted_ = 0, teaching_ = 0;
  bool all_lost_ = true;  // every turn so far
  std::deque<Group> spares_;

  LoadMeter meter_;
  Metrics sampling_;  // reported by the policy since all groups were last taken

  std::mutex mutex_;  // guards the members below
  std::condition_variable changed_;
  std::size_t in_play_ = 0;  // groups, those that are still to be begun among them
  std::deque<PlayedGroup> over_;
  Status status_;

  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_;
  std::thread thread_;
};

// Plays the groups, and nothing else.
Result<RolloutResult> play_groups(const RolloutContext& context, const Player& player,
                                  std::vector<Group> groups);

}  // namespace krl::core
