#include "serve/judging/judge_service.hpp"

#include <algorithm>

#include "core/stage/stage_setup.hpp"

namespace krl::serve {

struct JudgeService::Parts {
  StageSetup setup;
  std::unique_ptr<TaskShelf> tasks;
  int turns = 1;
  Contract contract = Contract::kDevice;
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
  parts.turns = static_cast<int>(settings.rollout.turns);
  parts.contract = settings.rollout.contract;
  return std::unique_ptr<JudgeService>(new JudgeService(std::move(parts), session, options));
}

JudgeService::JudgeService(Parts parts, core::Session& session, const JudgeServiceOptions& options)
    : longest_(options.longest),
      judges_(service::KernelJudges::of(parts.setup.judge(), {.contract = parts.contract},
                                        session.components())),
      tasks_(std::move(parts.tasks)),
      prompts_(std::move(*parts.setup.prompts)),
      scorer_(std::move(*parts.setup.scorer)),
      turns_(parts.turns),
      identity_(judges_.identity()),
      queue_(judges_, session.scope(), options.queue, metrics_, alarms_) {}

// No alarm may ring for a queue that has gone.
JudgeService::~JudgeService() { alarms_.stop(); }

Result<Order> JudgeService::order_of(const std::string& client,
                                     const nlohmann::ordered_json& request) {
  KRL_ASSIGN(service::EvaluationRequest read, service::evaluation_request_of(request));
  return order_of(client, std::move(read));
}

Result<Order> JudgeService::order_of(const std::string& client,
                                     service::EvaluationRequest request) {
  Order order;
  order.client = client;
  KRL_ASSIGN(order.task, tasks_->get(request.task));
  order.source = std::move(request.source);
  order.contract = request.contract;
  order.stages = request.stages.bits;
  order.seed = request.seed;
  const auto longest = static_cast<std::uint64_t>(longest_.count());
  const std::uint64_t limit =
      request.deadline_s == 0 ? longest : std::min(request.deadline_s, longest);
  order.deadline = Order::Clock::now() + std::chrono::seconds(limit);
  return order;
}

}  // namespace krl::serve
