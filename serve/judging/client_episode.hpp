// An episode that a client plays: it answers the prompts of a task, as a policy does in training,
// and is told the evaluation and the reward of each answer. It ends where an episode of the plan
// would. An error uses up no turn, and is never a reward. Thread-safe; made with make_shared.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "serve/judging/judge_service.hpp"
#include "serve/judging/secret_id.hpp"

namespace krl::serve {

// The reward of a turn: how much its score exceeds the best before it, so that the rewards of an
// episode add up to its best score; or the score itself.
enum class Pays { kGain, kScore };

struct EpisodeOptions {
  Pays pays = Pays::kGain;
  std::int64_t turns = 0;  // at most; 0: those of the plan
  std::chrono::seconds limit{
      0};  // of each judgement, its time in the queue included; 0: the server's
};

// What a client answered.
struct ClientAnswer {
  Answer answer;
  Candidate candidate;
};

// An answer as a policy gives it. `is_cut`: its limit of length ended it.
ClientAnswer read_answer(std::string text, bool is_cut = false);

// The source of a kernel, or an answer that holds one.
ClientAnswer read_code(std::string text);

inline constexpr std::size_t kMostAnswer = std::size_t{1} << 20;  // bytes

struct JudgedTurn {
  ToldPointer told;
  Score score;  // by the plan's reward terms
  double reward = 0;
  bool ends = false;  // the episode
};

class ClientEpisode : public std::enable_shared_from_this<ClientEpisode> {
 public:
  using Done = std::function<void(Result<JudgedTurn>)>;

  // `service` outlives it.
  ClientEpisode(JudgeService& service, std::string client, TaskPointer task,
                EpisodeOptions options = {});

  // Judges an answer. `done` is called once, on any thread: with the errors of EvaluationQueue, with
  // kFailedPrecondition if the episode is over or still judges another answer. `limit`: of this
  // judgement; 0: the episode's.
  void answer(ClientAnswer given, Done done, std::chrono::seconds limit = {});

  // Nobody waits for the answer that is being judged: it counts for nothing.
  void cancel();
  // Cancels, and ends the episode.
  void leave();

  // The prompt of the next turn, as training would show it.
  Prompt prompt() const;

  const std::string& id() const { return id_; }
  const Task& task() const { return task_->task; }
  std::int64_t turns() const;  // that were judged
  std::int64_t most_turns() const { return options_.turns; }
  std::size_t bytes() const;  // about what its turns take of memory

 private:
  Status begin();
  void fail(Error why, const Done& done);
  void score(ClientAnswer given, ToldPointer told, Done done);
  Result<JudgedTurn> take(ClientAnswer given, ToldPointer told);

  JudgeService& service_;
  const std::string client_, id_ = secret_id();
  const TaskPointer task_;
  EpisodeOptions options_;
  mutable std::mutex mutex_;  // guards the members below
  Episode episode_;
  std::size_t bytes_ = 0;
  bool judges_ = false, is_over_ = false, has_left_ = false;
  EvaluationQueue::Ticket ticket_ = 0;
};

}  // namespace krl::serve
