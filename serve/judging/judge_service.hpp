// A judge for clients: what a plan describes, opened, behind a queue. Every protocol of the server
// is a way to ask it. Opened by the main thread; then thread-safe.
#pragma once

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
  Result<Order> order_of(const std::string& client, service::EvaluationRequest request);

  // The prompt of a training for a task: after `earlier` turns.
  Prompt prompt(const Task& task, const std::vector<TurnRecord>& earlier = {}) const {
    return prompts_.build(task, earlier);
  }
  const Scorer& scorer() const { return scorer_; }
  int turns() const { return turns_; }  // of an episode of the plan
  const BackendInfo& info() const { return judges_.info(); }
  const std::string& identity() const { return identity_; }

  TaskShelf& tasks() { return *tasks_; }
  EvaluationQueue& queue() { return queue_; }
  JudgeMetrics& metrics() { return metrics_; }
  Alarms& alarms() { return alarms_; }

 private:
  struct Parts;
  JudgeService(Parts parts, core::Session& session, const JudgeServiceOptions& options);

  const std::chrono::seconds longest_;
  service::KernelJudges judges_;
  const std::unique_ptr<TaskShelf> tasks_;
  const PromptBuilder prompts_;
  const Scorer scorer_;
  const int turns_;
  const std::string identity_;
  JudgeMetrics metrics_;
  Alarms alarms_;
  EvaluationQueue queue_;
};

}  // namespace krl::serve
