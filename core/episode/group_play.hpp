// A group in play: its episodes, each from its first prompt to its last score. Used on the thread of
// the rollout's io_context, except for the pools' own work.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "core/base/result.hpp"
#include "core/episode/coroutine.hpp"
#include "core/episode/rollout.hpp"
#include "core/episode/sampler.hpp"

namespace krl::core {

// The resources and counts that the groups played side by side share.
struct Rollout {
  // `episodes`: the number that it begins with.
  Rollout(const RolloutContext& context, boost::asio::io_context& io, const Player& player,
          std::size_t episodes, LoadMeter& meter, Metrics& sampling);

  // Keeps the first error, which ends all episodes at their next turn.
  void keep(Status result);
  void report() const;

  const RolloutContext& context;
  boost::asio::io_context& io;
  boost::asio::thread_pool policy_threads;  // while one samples, another may count tokens
  boost::asio::thread_pool evaluators;
  const std::unique_ptr<Sampler> sampler;
  std::size_t groups = 0;  // in play
  int episodes = 0, answered = 0, evaluated = 0;
  Status status;
};

class GroupPlay {
 public:
  GroupPlay(Rollout& rollout, std::shared_ptr<const Player> player, const Group& group);

  // Retrieves the documents of the task, and tokenizes the first prompt before any episode asks for
  // an answer: the episodes of a group ask together. Blocks. Errors that only lose turns are kept
  // for these turns.
  Status prepare();

  // Plays the episode of a member; `order`: its place among all episodes of the rollout. A turn
  // whose answer, evaluation or score is lost ends it as an infrastructure error; an error here is
  // the run's, not the candidate's.
  Status play(std::size_t member, std::size_t order, Yield yield);

  // Counts an episode that is over; true if it was the last.
  bool ended() { return --left_ == 0; }
  PlayedGroup& played() { return played_; }
  const std::shared_ptr<const Player>& player() const { return player_; }

 private:
  using Tokens = std::vector<std::int32_t>;

  Status prepare_first_prompt();
  Result<std::optional<Reply>> next_reply(TurnRecord& turn, const Episode& episode,
                                          std::size_t order, Yield yield);
  Result<Prompt> next_prompt(const Episode& episode) const;
  bool wants_tokens() const;
  const Policy& tokenizer() const;
  Result<std::optional<Tokens>> tokenize(const Prompt& prompt) const;
  Result<std::optional<Tokens>> tokens_of(const Prompt& prompt, const Episode& episode,
                                          Yield yield);
  Status check_room(const std::optional<Tokens>& prompt) const;
  EpisodeRequest request_for(const Prompt& prompt, const std::optional<Tokens>& tokens,
                             const Episode& episode) const;
  Result<Reply> ask_for_new(EpisodeRequest request, TurnRecord& turn, std::size_t order,
                            Yield yield);
  bool was_judged(const Answer& answer) const;
  Result<Reply> ask(EpisodeRequest request, std::size_t order, Yield yield);
  std::size_t room_for(const Answer& answer) const;
  Result<bool> end_thought(const Prompt& prompt, Answer& answer, Yield yield);
  Result<Tokens> tokens_of_end(const Prompt& prompt, Yield yield);
  Status check_version(const Answer& answer) const;
  void lose(TurnRecord turn, const Error& why, Episode& episode);
  Result<Evaluated> evaluate(const Episode& episode, const Candidate& candidate, Yield yield);
  Result<Score> score(const Episode& episode, Yield yield);

  Rollout& rollout_;
  const RolloutContext& context_;
  const std::shared_ptr<const Player> player_;
  const std::shared_ptr<const KernelIds> judged_;
  PlayedGroup played_;
  std::size_t left_;  // episodes that are not over
  Result<std::vector<Document>> documents_;
  Result<std::optional<Tokens>> first_tokens_;  // tokens of the first prompt, if needed here
  Tokens thought_end_;                          // the tokens of kThoughtEnd, once they are known
};

}  // namespace krl::core
