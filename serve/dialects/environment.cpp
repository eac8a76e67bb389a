#include "serve/dialects/environment.hpp"

#include <fmt/format.h>

#include <cmath>
#include <random>

namespace krl::serve {
namespace {

constexpr const char* kSplit = "train";
constexpr std::int64_t kMostTurns = 64;  // as in a plan

// The whole number from `least` to `most` under this key; `otherwise` if there is none.
Result<std::int64_t> number_in(const Json& json, const char* key, std::int64_t otherwise,
                               std::int64_t least, std::int64_t most) {
  if (!json.contains(key) || json[key].is_null()) return otherwise;
  if (json[key].is_number_integer()) {
    const auto number = json[key].get<std::int64_t>();
    if (number >= least && number <= most) return number;
  }
  return invalid(fmt::format("{} must be a whole number from {} to {}", key, least, most));
}

Status check_split(const Json& request) {
  const std::string split = text_in(request, "split");
  if (split == kSplit) return {};
  return invalid("split is '" + split + "', and there is only \"train\"");
}

Result<Pays> asked_pay(const Json& request) {
  const std::string pay = text_in(request, "reward");
  if (pay.empty() || pay == "gain") return Pays::kGain;
  if (pay == "score") return Pays::kScore;
  return invalid("reward is '" + pay + "', and must be \"gain\" or \"score\"");
}

Result<TaskPointer> asked_task(JudgeService& service, const Json& request) {
  const auto& own = service.tasks().own();
  if (request.contains("problem_id") && !request["problem_id"].is_null())
    return service.tasks().get(request["problem_id"]);
  if (own.empty()) return failure(Code::kNotFound, "the server has no tasks; send a definition");
  if (request.contains("index")) {
    KRL_TRY(check_split(request));
    const auto most = static_cast<std::int64_t>(own.size()) - 1;
    KRL_ASSIGN(const std::int64_t index, number_in(request, "index", 0, 0, most));
    return own[static_cast<std::size_t>(index)];
  }
  KRL_ASSIGN(const std::int64_t seed,
             number_in(request, "seed", std::random_device()(), 0, INT64_MAX));
  return own[static_cast<std::size_t>(seed) % own.size()];
}

Json listed_task(const Task& task) {
  return {{"problem_id", task.id}, {"title", task.title}, {"tier", task.tier}};
}

// The tasks from `start` to before `stop`.
Result<Json> listed_tasks(JudgeService& service, std::int64_t start, std::int64_t stop) {
  Json tasks = Json::array();
  for (std::int64_t i = start; i < stop; ++i)
    tasks.push_back(listed_task(service.tasks().own()[static_cast<std::size_t>(i)]->task));
  return tasks;
}

// Below zero, both ends count from the end.
Result<Json> task_range(JudgeService& service, const Json& request) {
  const auto most = static_cast<std::int64_t>(service.tasks().own().size());
  KRL_ASSIGN(const std::int64_t start, number_in(request, "start", 0, -most, most));
  KRL_ASSIGN(const std::int64_t stop, number_in(request, "stop", most, -most, most));
  return listed_tasks(service, start < 0 ? start + most : start, stop < 0 ? stop + most : stop);
}

Result<Json> with_name(const char* key, Result<Json> value) {
  KRL_ASSIGN(Json json, std::move(value));
  return Json{{key, std::move(json)}, {"env_name", kEnvironment}};
}

void add_listing(Router& router, const char* path,
                 std::function<Result<Json>(const Json& request)> list) {
  add_in_environment(router, {"POST", path, [list = std::move(list)](const RoutedCall& call) {
                                call.answer(answer_of([&]() -> Result<Json> {
                                  KRL_ASSIGN(const Json request, call.json());
                                  KRL_TRY(check_split(request));
                                  return list(request);
                                }()));
                              }});
}

}  // namespace

std::string text_in(const Json& json, const char* key) {
  const auto found = json.is_object() ? json.find(key) : json.end();
  return found != json.end() && found->is_string() ? found->get<std::string>() : "";
}

Json number_or_null(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

Result<std::shared_ptr<ClientEpisode>> asked_episode(JudgeService& service,
                                                     const std::string& client, const Json& request,
                                                     std::chrono::seconds limit) {
  if (!request.is_object()) return invalid("the parameters of an episode must be an object");
  EpisodeOptions options;
  options.limit = limit;
  KRL_ASSIGN(TaskPointer task, asked_task(service, request));
  KRL_ASSIGN(options.pays, asked_pay(request));
  KRL_ASSIGN(options.turns, number_in(request, "max_turns", 0, 1, kMostTurns));
  return std::make_shared<ClientEpisode>(service, client, std::move(task), options);
}

void add_in_environment(Router& router, Route route) {
  router.add(route);
  route.path = std::string("/") + kEnvironment + route.path;
  router.add(std::move(route));
}

void add_environment_routes(JudgeService& service, const ServerState& state, Router& router) {
  router.add({"GET", "/health",
              [&state](const RoutedCall& call) {
                const bool drains = state.drains;
                call.answer(json_answer({{"status", drains ? "unhealthy" : "healthy"}},
                                        drains ? 503 : 200));
              },
              Json::object(), true});
  router.add({"GET", "/list_environments", [](const RoutedCall& call) {
                call.answer(json_answer(Json::array({kEnvironment})));
              }});
  add_in_environment(
      router, {"GET", "/splits", [](const RoutedCall& call) {
                 call.answer(json_answer(Json::array({{{"name", kSplit}, {"type", "train"}}})));
               }});
  add_listing(router, "/tasks", [&service](const Json&) {
    return with_name("tasks", task_range(service, Json::object()));
  });
  add_listing(router, "/num_tasks", [&service](const Json&) -> Result<Json> {
    return Json{{"num_tasks", service.tasks().own().size()}};
  });
  add_listing(router, "/task", [&service](const Json& request) -> Result<Json> {
    KRL_ASSIGN(const TaskPointer task, asked_task(service, request));
    return with_name("task", listed_task(task->task));
  });
  add_listing(router, "/task_range", [&service](const Json& request) {
    return with_name("tasks", task_range(service, request));
  });
}

}  // namespace krl::serve
