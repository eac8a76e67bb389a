#include "serve/dialects/ors.hpp"

#include <optional>

#include "http/base/event_stream.hpp"
#include "serve/judging/client_episodes.hpp"
#include "serve/judging/secret_id.hpp"
#include "serve/routing/awaited.hpp"
#include "serve/routing/keep_alive.hpp"

namespace krl::serve::ors {
namespace {

constexpr const char* kTool = "submit";
constexpr std::size_t kMostResults = 2000;

// Clients read lines of limited length, and skip blanks at the start of a chunk.
constexpr std::size_t kChunk = 4096;

std::string result_events(const Json& result) {
  const std::string text = result.dump(-1, ' ', true, Json::error_handler_t::replace);
  std::string events;
  for (std::size_t begin = 0; begin < text.size();) {
    std::size_t end = std::min(begin + kChunk, text.size());
    while (end < text.size() && text[end] == ' ') ++end;
    events +=
        http::event_text(end == text.size() ? "end" : "chunk", text.substr(begin, end - begin));
    begin = end;
  }
  return events;
}

std::string error_event(const std::string& message) { return http::event_text("error", message); }

std::string refused_call(const char* reason, const std::string& why) {
  return result_events({{"ok", false}, {"error", why}, {"reason", reason}});
}

Json text_block(const std::string& text) {
  return {{"text", text}, {"detail", nullptr}, {"type", "text"}};
}

std::string judged_events(const Result<JudgedTurn>& judged) {
  if (!judged && judged.error().code == Code::kFailedPrecondition)
    return refused_call("episode_finished", judged.error().message);
  if (!judged) return error_event(judged.error().message);
  const Evaluation& evaluation = judged->told->evaluation;
  return result_events({{"ok", true},
                        {"output",
                         {{"blocks", Json::array({text_block(judged->told->feedback)})},
                          {"metadata",
                           {{"verdict", name_of(evaluation.verdict)},
                            {"correct", evaluation.passed()},
                            {"score", judged->score.total}}},
                          {"reward", judged->reward},
                          {"finished", judged->ends}}}});
}

Json tools() {
  return {
      {"tools",
       Json::array({{{"name", kTool},
                     {"description", "Compiles, checks and times a kernel for the task."},
                     {"input_schema",
                      {{"type", "object"},
                       {"properties",
                        {{"code", {{"type", "string"}, {"description", "the kernel's source"}}}}},
                       {"required", {"code"}}}}}})},
      {"terminal_tool", nullptr}};
}

// A call of the tool. Its client may lose the connection, and ask for the result by the call's id.
class ToolCall : public std::enable_shared_from_this<ToolCall> {
 public:
  const std::string id = secret_id();

  void attach(Alarms& alarms, const RoutedCall& call) {
    call.begin_events();
    call.call->send_event(http::event_text("task_id", id));
    if (!events_.add(call)) return end(call, *events_.value());
    call.call->when_gone([weak = weak_from_this(), gone = call.call.get()] {
      if (const auto self = weak.lock()) self->events_.take(gone);
    });
    keep_alive(alarms, call.call);
  }

  bool is_over() const { return events_.value().has_value(); }

  void settle(const std::string& events) {
    for (const RoutedCall& call : events_.settle(events)) end(call, events);
  }

 private:
  static void end(const RoutedCall& call, const std::string& events) {
    call.call->send_event(events);
    call.call->end_events();
  }

  Awaited<std::string> events_;
};

class Sessions {
 public:
  explicit Sessions(JudgeService& service) : service_(service) {}

  void create(const RoutedCall& call) {
    const auto sid = session_of(call);
    if (!sid) return;
    const auto begun = [&]() -> Result<std::shared_ptr<ClientEpisode>> {
      KRL_ASSIGN(const Json body, call.json());
      if (episodes_.find(call.client, *sid)) return invalid("the session has its task already");
      const bool has_spec = body.is_object() && body.contains("task_spec");
      return asked_episode(service_, call.client, has_spec ? body["task_spec"] : body, {});
    }();
    if (!begun) return call.answer(error_answer(begun.error()));
    episodes_.keep(call.client, *sid, *begun);
    call.answer(json_answer({{"sid", *sid}}));
  }

  void remove(const RoutedCall& call) {
    const auto sid = session_of(call);
    if (!sid) return;
    episodes_.end(call.client, *sid);
    call.answer(json_answer({{"sid", *sid}}));
  }

  // Answers with what `tell` makes of the session's episode.
  void answer(const RoutedCall& call, Json (*tell)(const ClientEpisode&)) {
    if (const auto episode = episode_of(call)) call.answer(json_answer(tell(*episode)));
  }

  void call_tool(const RoutedCall& call, const Json& body) {
    if (const std::string id = text_in(body, "task_id"); !id.empty()) return resume(call, id);
    const auto episode = episode_of(call);
    if (!episode) return;
    const Json input = body.is_object() && body.contains("input") ? body["input"] : Json();
    const auto started = std::make_shared<ToolCall>();
    const bool has_code = input.is_object() && input.contains("code") && input["code"].is_string();
    if (text_in(body, "name") != kTool) {
      started->settle(refused_call("not_found", "there is one tool, \"submit\""));
    } else if (!has_code) {
      started->settle(refused_call("input_validation", "submit takes {\"code\": \"…\"}"));
    } else if (const Status room = service_.queue().admits(call.client, kPatience); !room) {
      return call.answer(error_answer(room.error(), service_.queue().retry_after()));
    }
    calls_.keep(call.client, started->id, started);
    started->attach(service_.alarms(), call);
    if (started->is_over()) return;
    episode->answer(
        read_code(input["code"].get<std::string>()),
        [started](const Result<JudgedTurn>& judged) { started->settle(judged_events(judged)); });
  }

 private:
  static constexpr std::chrono::seconds kPatience{600};

  // The header's session; none after it has answered that there is none.
  static std::optional<std::string> session_of(const RoutedCall& call) {
    const std::string sid(call.request().header("X-Session-ID"));
    if (!sid.empty()) return sid;
    call.answer(
        error_answer({Code::kInvalidArgument, "the header X-Session-ID must name a session"}));
    return std::nullopt;
  }

  std::shared_ptr<ClientEpisode> episode_of(const RoutedCall& call) {
    const auto sid = session_of(call);
    if (!sid) return nullptr;
    auto episode = episodes_.find(call.client, *sid);
    if (!episode)
      call.answer(
          error_answer({Code::kNotFound, "there is no such session of yours; /create begins it"}));
    return episode;
  }

  void resume(const RoutedCall& call, const std::string& id) {
    if (const auto earlier = calls_.find(call.client, id))
      return earlier->attach(service_.alarms(), call);
    call.begin_events();
    call.call->send_event(error_event("unknown task_id"));
    call.call->end_events();
  }

  JudgeService& service_;
  ClientEpisodes episodes_;
  ClientsOwn<std::shared_ptr<ToolCall>> calls_{kMostResults};
};

Json prompt_blocks(const ClientEpisode& episode) {
  return Json::array({text_block(episode.prompt().back().text)});
}

Json prompt_messages(const ClientEpisode& episode) {
  Json messages = Json::array();
  for (const auto& message : episode.prompt())
    messages.push_back({{"role", message.role == KRL_ROLE_SYSTEM ? "system" : "user"},
                        {"blocks", Json::array({text_block(message.text)})},
                        {"detail", nullptr}});
  return messages;
}

void create_session(const RoutedCall& call) {
  call.begin_events();
  call.call->send_event(http::event_text("task_id", secret_id()));
  call.call->send_event(http::event_text("end", ""));
  call.call->end_events();
}

}  // namespace

void add_routes(JudgeService& service, Router& router) {
  const auto sessions = std::make_shared<Sessions>(service);
  const auto told = [sessions](Json (*tell)(const ClientEpisode&)) {
    return [sessions, tell](const RoutedCall& call) { sessions->answer(call, tell); };
  };
  const auto remove = [sessions](const RoutedCall& call) { sessions->remove(call); };
  router.add({"GET", "/version", [](const RoutedCall& call) {
                call.answer(json_answer({{"version", KERNELRL_VERSION}, {"build_sha", nullptr}}));
              }});
  router.add({"POST", "/create_session", create_session});
  router.add({"POST", "/create", [sessions](const RoutedCall& call) { sessions->create(call); }});
  router.add({"POST", "/ping", told([](const ClientEpisode&) { return Json{{"status", "ok"}}; })});
  router.add({"POST", "/delete", remove});
  router.add({"POST", "/delete_session", remove});
  add_in_environment(
      router, {"GET", "/tools", [](const RoutedCall& call) { call.answer(json_answer(tools())); }});
  add_in_environment(router,
                     {"GET", "/task_tools", told([](const ClientEpisode&) { return tools(); })});
  add_in_environment(router, {"GET", "/prompt", told(prompt_blocks)});
  add_in_environment(router, {"GET", "/messages", told(prompt_messages)});
  add_in_environment(
      router, {"POST", "/call", taking_json([sessions](const RoutedCall& call, const Json& body) {
                 sessions->call_tool(call, body);
               })});
}

}  // namespace krl::serve::ors
