#include "serve/judging/judge_service.hpp"

#include <algorithm>

#include "core/stage/stage_setup.hpp"
#include "serve/judging/judge_identity.hpp"

namespace krl::serve {

struct JudgeService::Parts {
  StageSetup setup;
  std::unique_ptr<TaskShelf> tasks;
  RolloutSettings rollout;
  BackendSettings backend;
};

Result<std::unique_ptr<JudgeService>> JudgeService::open(const Plan& plan, core::Session& session,
                                                         const JudgeServiceOptions& options) {
  const Settings& settings =
      plan.stages.empty() ? plan.settings : plan.stage(plan.stages.size() - 1);
  Parts parts;
  KRL_ASSIGN(parts.setup, set_up(settings, session.components()));
  std::vector<Task> tasks = std::move(parts.setup.data.tasks);
  for (Holdout& holdout : parts.setup.data.holdouts)
    std::ranges::move(holdout.tasks, std::back_inserter(tasks));
  KRL_ASSIGN(parts.tasks, TaskShelf::of(std::move(tasks)));
  parts.rollout = settings.rollout;
  parts.backend = settings.backend;
  return std::unique_ptr<JudgeService>(new JudgeService(std::move(parts), session, options));
}

JudgeService::JudgeService(Parts parts, core::Session& session, const JudgeServiceOptions& options)
    : longest_(options.longest),
      judges_(service::KernelJudges::of(parts.setup.judge(), {.contract = parts.rollout.contract},
                                        session.components())),
      tasks_(std::move(parts.tasks)),
      prompts_(std::move(*parts.setup.prompts)),
      scorer_(std::move(*parts.setup.scorer)),
      rollout_(std::move(parts.rollout)),
      identity_(judge_identity(judges_.identity(), parts.backend,
                               session.components().registry().catalog())),
      queue_(judges_, session.scope(), options.queue, metrics_, alarms_) {}

// Neither an alarm nor a score may reach a queue that has gone.
JudgeService::~JudgeService() {
  alarms_.stop();
  scoring_.stop();
  scoring_.join();
}

Result<Order> JudgeService::order_of(const std::string& client,
                                     const nlohmann::ordered_json& request) {
  KRL_ASSIGN(service::EvaluationRequest asked, service::evaluation_request_of(request));
  KRL_ASSIGN(TaskPointer task, tasks_->get(asked.task, client));
  const auto limit = static_cast<std::int64_t>(
      std::min<std::uint64_t>(asked.deadline_s, static_cast<std::uint64_t>(longest_.count())));
  Order order =
      order_of(client, std::move(task), std::move(asked.source), std::chrono::seconds(limit));
  order.contract = asked.contract;
  order.stages = asked.stages.bits;
  order.seed = asked.seed;
  return order;
}

Order JudgeService::order_of(const std::string& client, TaskPointer task, std::string source,
                             std::chrono::seconds limit) const {
  Order order;
  order.client = client;
  order.task = std::move(task);
  order.source = std::move(source);
  order.contract = rollout_.contract;
  order.deadline =
      Order::Clock::now() + (limit.count() == 0 ? longest_ : std::min(limit, longest_));
  return order;
}

}  // namespace krl::serve
