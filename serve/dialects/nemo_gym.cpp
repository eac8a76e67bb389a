#include "serve/dialects/nemo_gym.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "serve/dialects/responses_answer.hpp"
#include "serve/judging/client_episodes.hpp"

namespace krl::serve::nemo_gym {
namespace {

constexpr const char* kTool = "evaluate_kernel";
constexpr std::string_view kCookie = "kernelrl_session";

// The session that the client's cookie names; empty if there is none.
std::string session_of(const RoutedCall& call) {
  std::string_view cookies = call.request().header("Cookie");
  while (!cookies.empty()) {
    const std::size_t end = std::min(cookies.find(';'), cookies.size());
    std::string_view cookie = cookies.substr(0, end);
    cookies.remove_prefix(std::min(end + 1, cookies.size()));
    while (cookie.starts_with(' ')) cookie.remove_prefix(1);
    if (cookie.starts_with(kCookie) && cookie.substr(kCookie.size()).starts_with('='))
      return std::string(cookie.substr(kCookie.size() + 1));
  }
  return {};
}

// The task of a row: {"verifier_metadata": {"task": an id, or a definition}}.
Result<TaskPointer> task_of(JudgeService& service, const Json& row) {
  const bool has_metadata = row.is_object() && row.contains("verifier_metadata");
  if (!has_metadata || !row["verifier_metadata"].is_object() ||
      !row["verifier_metadata"].contains("task"))
    return invalid("verifier_metadata.task must be a task's id, or its definition");
  return service.tasks().get(row["verifier_metadata"]["task"]);
}

void refuse(JudgeService& service, const RoutedCall& call, const Error& error) {
  call.answer(error_answer(error, service.queue().retry_after()));
}

// ---- the tool -----------------------------------------------------------------------------------

class Sessions {
 public:
  explicit Sessions(JudgeService& service) : service_(service) {}

  void seed(const RoutedCall& call) {
    const auto begun = [&]() -> Result<std::shared_ptr<ClientEpisode>> {
      KRL_ASSIGN(const Json row, call.json());
      KRL_ASSIGN(TaskPointer task, task_of(service_, row));
      return std::make_shared<ClientEpisode>(service_, call.client, std::move(task),
                                             EpisodeOptions{.limit = kLimit});
    }();
    if (!begun) return refuse(service_, call, begun.error());
    episodes_.keep(call.client, (*begun)->id(), *begun);
    http::Answer answer = json_answer(Json::object());
    answer.headers.push_back({"Set-Cookie", fmt::format("{}={}; Path=/; HttpOnly; SameSite=Lax",
                                                        kCookie, (*begun)->id())});
    call.answer(std::move(answer));
  }

  // The session of the call is over.
  void end(const RoutedCall& call) { episodes_.end(call.client, session_of(call)); }

  void evaluate(const RoutedCall& call, const Json& body) {
    const auto episode = episodes_.find(call.client, session_of(call));
    if (!episode)
      return refuse(service_, call,
                    {Code::kNotFound, "there is no session of yours; /seed_session begins one"});
    if (!body.is_object() || !body.contains("code") || !body["code"].is_string())
      return refuse(service_, call,
                    {Code::kInvalidArgument, "evaluate_kernel takes {\"code\": \"…\"}"});
    call.call->when_gone([episode] { episode->cancel(); });
    episode->answer(
        read_code(body["code"].get<std::string>()),
        [this, call, episode](const Result<JudgedTurn>& judged) {
          if (!judged) return refuse(service_, call, judged.error());
          call.answer(json_answer({{"headline", judged->told->headline},
                                   {"feedback", judged->told->feedback},
                                   {"calls_left", episode->most_turns() - episode->turns()}}));
        });
  }

 private:
  JudgeService& service_;
  ClientEpisodes episodes_;
};

// ---- the reward ---------------------------------------------------------------------------------

// The request again, with the reward and what it is made of. Numbers at the top become metrics.
Json verified(const JudgeService& service, Json request, const JudgedTurn& judged) {
  const Evaluation& evaluation = judged.told->evaluation;
  request["reward"] = judged.reward;
  Json components = Json::object();
  for (std::size_t i = 0; i < judged.score.terms.size(); ++i) {
    const RewardTerm& term = service.scorer().terms()[i];
    components[term.name] = term.weight * judged.score.terms[i];
  }
  request["reward_components"] = std::move(components);
  request["compiled"] = evaluation.compiled() ? 1 : 0;
  request["correct"] = evaluation.passed() ? 1 : 0;
  if (evaluation.passed() && std::isfinite(evaluation.speedup()))
    request["speedup"] = evaluation.speedup();
  request["verdict"] = name_of(evaluation.verdict);
  request["feedback"] = judged.told->feedback;
  return request;
}

void verify(JudgeService& service, const RoutedCall& call, const Json& body) {
  if (!body.is_object() || !body.contains("response"))
    return refuse(service, call, {Code::kInvalidArgument, "the request has no 'response'"});
  auto task = task_of(service, body);
  if (!task) return refuse(service, call, task.error());
  auto answer = answer_in(body["response"], kTool);
  if (!answer) return refuse(service, call, answer.error());
  const auto episode = std::make_shared<ClientEpisode>(
      service, call.client, *std::move(task),
      EpisodeOptions{.pays = Pays::kScore, .turns = 1, .limit = kLimit});
  call.call->when_gone([episode] { episode->cancel(); });
  episode->answer(*std::move(answer), [&service, call, body](const Result<JudgedTurn>& judged) {
    if (!judged) return refuse(service, call, judged.error());
    call.answer(json_answer(verified(service, body, *judged)));
  });
}

// ---- metrics ------------------------------------------------------------------------------------

using Columns = std::map<std::string, std::vector<double>>;

void add_row(const Json& row, Columns& columns) {
  for (const auto& [key, value] : row.items()) {
    if (key.starts_with("_ng_") || !(value.is_number() || value.is_boolean())) continue;
    columns[key].push_back(value.is_boolean() ? value.get<bool>() : value.get<double>());
  }
}

// "mean/reward" and so on; the deviation is the sample's, 0 for one value.
Json described(const Columns& columns) {
  Json metrics = Json::object();
  for (auto [name, values] : columns) {
    std::ranges::sort(values);
    const auto n = static_cast<double>(values.size());
    const double mean = std::accumulate(values.begin(), values.end(), 0.0) / n;
    double squares = 0;
    for (const double value : values) squares += (value - mean) * (value - mean);
    const std::size_t half = values.size() / 2;
    metrics["mean/" + name] = mean;
    metrics["max/" + name] = values.back();
    metrics["min/" + name] = values.front();
    metrics["median/" + name] =
        values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
    metrics["std/" + name] = n > 1 ? std::sqrt(squares / (n - 1)) : 0.0;
  }
  return metrics;
}

Result<Json> aggregated(const Json& request) {
  if (!request.is_object() || !request.contains("verify_responses") ||
      !request["verify_responses"].is_array())
    return invalid("'verify_responses' must be a list of what /verify answered");
  std::map<std::string, Columns> tasks;
  Columns all;
  for (const Json& row : request["verify_responses"]) {
    if (!row.is_object()) return invalid("'verify_responses' must hold objects");
    add_row(row, tasks[row.contains("_ng_task_index") ? row["_ng_task_index"].dump() : ""]);
    add_row(row, all);
  }
  Json groups = Json::array();
  for (const auto& [task, columns] : tasks) groups.push_back(described(columns));
  Json metrics = described(all);
  Json key_metrics = Json::object();
  for (const char* key : {"mean/reward", "mean/correct", "mean/speedup"})
    if (metrics.contains(key)) key_metrics[key] = metrics[key];
  return Json{{"group_level_metrics", std::move(groups)},
              {"agent_metrics", std::move(metrics)},
              {"key_metrics", std::move(key_metrics)}};
}

}  // namespace

void add_routes(JudgeService& service, Router& router) {
  const auto sessions = std::make_shared<Sessions>(service);
  router.add(
      {"POST", "/seed_session", [sessions](const RoutedCall& call) { sessions->seed(call); }});
  router.add({"POST", std::string("/") + kTool,
              taking_json([sessions](const RoutedCall& call, const Json& body) {
                sessions->evaluate(call, body);
              })});
  router.add({"POST", "/verify",
              taking_json([&service, sessions](const RoutedCall& call, const Json& body) {
                sessions->end(call);
                verify(service, call, body);
              })});
  router.add({"GET", "/reverify_mode",
              [](const RoutedCall& call) { call.answer(json_answer("stateless")); }});
  router.add({"POST", "/aggregate_metrics", [](const RoutedCall& call) {
                const auto body = call.json();
                call.answer(answer_of(body ? aggregated(*body) : body));
              }});
}

}  // namespace krl::serve::nemo_gym
