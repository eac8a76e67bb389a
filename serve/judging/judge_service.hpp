// A judge for clients: what a plan describes, opened, behind a queue. Every protocol of the server
// is a way to ask it. Opened by the main thread; then thread-safe.
#pragma once

#include <boost/asio/thread_pool.hpp>
#include <memory>
#include <string>

#include "core/episode/prompt.hpp"
#include "core/episode/score.hpp"
#include "core/plan/plan.hpp"
#include "core/plugin/session.hpp"
#include "serve/judging/alarms.hpp"
#include "serve/judging/evaluation_queue.hpp"
#include "serve/judging/judge_metrics.hpp"
#include "serve/judging/task_shelf.hpp"
#include "service/kernels/evaluation_request.hpp"

namespace krl::serve {

inline constexpr std::size_t kMostId = 256;  // bytes of an id that a client chooses

struct JudgeServiceOptions {
  QueueOptions queue;
  std::chrono::seconds longest{600};  // the deadline of requests that name none, and of all others
};

class JudgeService {
 public:
  // The backend, the sanitizer, the tasks, the prompts and the reward terms are those of the plan,
  // which is the plan of its last stage, if it has any. `session` outlives the result.
  static Result<std::unique_ptr<JudgeService>> open(const Plan& plan, core::Session& session,
                                                    const JudgeServiceOptions& options);
  ~JudgeService();

  // Reads what a client wants judged.
  Result<Order> order_of(const std::string& client, const nlohmann::ordered_json& request);
  // An answer in an episode of the plan; `limit` is cut to the server's own, which 0 stands for.
  Order order_of(const std::string& client, TaskPointer task, std::string source,
                 std::chrono::seconds limit) const;

  // The prompt of a training for a task: after `earlier` turns.
  Prompt prompt(const Task& task, const std::vector<TurnRecord>& earlier = {}) const {
    return prompts_.build(task, earlier);
  }
  const Scorer& scorer() const { return scorer_; }
  const RolloutSettings& rollout() const { return rollout_; }  // of the plan's episodes
  const Component& backend() const { return judges_.backend(); }
  const BackendInfo& info() const { return judges_.info(); }
  const std::string& identity() const { return identity_; }

  TaskShelf& tasks() { return *tasks_; }
  EvaluationQueue& queue() { return queue_; }
  JudgeMetrics& metrics() { return metrics_; }
  Alarms& alarms() { return alarms_; }
  // Where answers are scored: reward terms may block.
  boost::asio::thread_pool& scoring() { return scoring_; }

 private:
  struct Parts;
  JudgeService(Parts parts, core::Session& session, const JudgeServiceOptions& options);

  const std::chrono::seconds longest_;
  service::KernelJudges judges_;
  const std::unique_ptr<TaskShelf> tasks_;
  const PromptBuilder prompts_;
  const Scorer scorer_;
  const RolloutSettings rollout_;
  const std::string identity_;
  JudgeMetrics metrics_;
  Alarms alarms_;
  boost::asio::thread_pool scoring_{2};
  EvaluationQueue queue_;
};

}  // namespace krl::serve
