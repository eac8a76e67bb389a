#include "serve/dialects/openenv.hpp"

#include <atomic>
#include <cmath>

#include "core/base/log.hpp"
#include "serve/dialects/mcp_protocol.hpp"
#include "serve/dialects/openenv_messages.hpp"
#include "serve/judging/client_episodes.hpp"
#include "service/kernels/evaluation_request.hpp"

namespace krl::serve::openenv {
namespace {

constexpr double kMostSeconds = 1e6;  // the server's own limit is less

using EpisodePointer = std::shared_ptr<ClientEpisode>;

// An error with OpenEnv's code for it.
struct Refusal {
  const char* code;
  Error error;
};
using Answered = tl::expected<Json, Refusal>;

tl::unexpected<Refusal> refuse(const char* code, Error error) {
  return tl::unexpected<Refusal>(Refusal{code, std::move(error)});
}

// An error that the client made, or else one of the server's.
tl::unexpected<Refusal> refuse(Error error) {
  const bool is_theirs = error.code == Code::kInvalidArgument || error.code == Code::kNotFound;
  return refuse(is_theirs ? "VALIDATION_ERROR" : "EXECUTION_ERROR", std::move(error));
}

tl::unexpected<Refusal> refuse_full(const Status& status) {
  return refuse("CAPACITY_REACHED", status.error());
}

tl::expected<EpisodePointer, Refusal> reset(JudgeService& service, const std::string& client,
                                            const Json& parameters) {
  if (const Status status = service.queue().admits(client, kLimit); !status)
    return refuse_full(status);
  auto episode = asked_episode(service, client, parameters, kLimit);
  if (!episode) return refuse(std::move(episode).error());
  return *std::move(episode);
}

Status check_action(const Json& action) {
  const auto is_known = [](const std::string& key) { return key == "code" || key == "metadata"; };
  if (!action.is_object() || !action.contains("code") || !action["code"].is_string())
    return invalid("an action is {\"code\": \"a kernel's source, or an answer that holds it\"}");
  for (const auto& [key, value] : action.items())
    if (!is_known(key)) return invalid("an action has no field '" + key + "', only 'code'");
  return {};
}

// The seconds for which the client of a step waits: "timeout_s", a positive number.
Result<std::chrono::seconds> limit_of(const Json& request) {
  const auto found = request.find("timeout_s");
  if (found == request.end() || found->is_null()) return kLimit;
  const double seconds = found->is_number() ? found->get<double>() : 0;
  if (!(seconds > 0)) return invalid("timeout_s must be a number of seconds above 0");
  return std::chrono::seconds(std::lround(std::ceil(std::min(seconds, kMostSeconds))));
}

void step(JudgeService& service, const std::string& client, const EpisodePointer& episode,
          const Json& action, std::chrono::seconds limit, std::function<void(Answered)> done) {
  if (const Status right = check_action(action); !right) return done(refuse(right.error()));
  if (!episode)
    return done(refuse("EXECUTION_ERROR",
                       {Code::kFailedPrecondition, "there is no episode; reset begins one"}));
  if (const Status status = service.queue().admits(client, limit); !status)
    return done(refuse_full(status));
  episode->answer(
      read_code(action["code"].get<std::string>()),
      [&service, episode, done = std::move(done)](const Result<JudgedTurn>& judged) {
        if (!judged) return done(refuse(judged.error()));
        done(observation(*episode, service.info().device, &*judged));
      },
      limit);
}

// ---- over a WebSocket ---------------------------------------------------------------------------

// One client's connection, its episode, and its conversation in MCP. Messages come on the
// connection's thread.
class Session : public std::enable_shared_from_this<Session> {
 public:
  Session(JudgeService& service, mcp::Tools& tools, const RoutedCall& call,
          std::shared_ptr<http::WebSocket> socket)
      : service_(service),
        client_(call.client),
        admission_(*call.admission),
        conversation_(std::make_shared<mcp::Conversation>(tools, client_)),
        socket_(std::move(socket)) {}

  void begin() {
    socket_->listen({[self = shared_from_this()](const std::string& text) { self->hear(text); },
                     [self = shared_from_this()] { self->leave(); },
                     [self = shared_from_this()] { self->drain(); }});
  }

 private:
  // What is thrown ends this message, and not the server.
  void hear(const std::string& text) {
    ++unanswered_;
    if (!admission_.may_ask_now(client_))
      return tell(
          refuse_full(failure(Code::kResourceExhausted, "you ask more often than you may")));
    try {
      take(text);
    } catch (const std::exception& error) {
      log(Severity::kError, std::string("/ws: ") + error.what());
      tell(refuse("EXECUTION_ERROR", {Code::kInternal, "the server failed at this message"}));
    }
  }

  void take(const std::string& text) {
    const auto message = service::parse_json(text);
    if (!message) return tell(refuse("INVALID_JSON", message.error()));
    const std::string type = text_in(*message, "type");
    const bool has_data = message->is_object() && message->contains("data");
    const Json data = has_data ? (*message)["data"] : Json::object();
    if (type == "reset") return begin_episode(data);
    if (type == "step")
      return step(service_, client_, episode_, data, kLimit,
                  [self = shared_from_this()](const Answered& answered) { self->tell(answered); });
    if (type == "state") return send("state", openenv::state(episode_.get()));
    if (type == "mcp") return converse(data);
    if (type == "close") return socket_->close();
    tell(refuse("UNKNOWN_TYPE",
                {Code::kInvalidArgument, "unknown message type '" + type +
                                             "'; there are reset, step, state, mcp and close"}));
  }

  void begin_episode(const Json& parameters) {
    auto begun = reset(service_, client_, parameters);
    if (!begun) return tell(refuse(begun.error().code, begun.error().error));
    if (episode_) episode_->leave();
    episode_ = *std::move(begun);
    tell(observation(*episode_, service_.info().device, nullptr));
  }

  // Clients take one message for the answer: no notifications.
  void converse(const Json& message) {
    const bool is_answered =
        conversation_->take(message, [self = shared_from_this()](const Json& sent) {
          if (!sent.contains("method")) self->send("mcp", sent);
        });
    if (!is_answered) end_message();
  }

  void leave() {
    if (episode_) episode_->leave();
    conversation_->cancel_all();
  }

  void drain() {
    drains_ = true;
    if (unanswered_ == 0) socket_->close();
  }

  void tell(const Answered& answered) {
    if (answered) return send("observation", *answered);
    send("error", {{"message", answered.error().error.message}, {"code", answered.error().code}});
  }

  void send(const char* type, Json data) {
    const Json message = {{"type", type}, {"data", std::move(data)}};
    socket_->send(dumped(message));
    end_message();
  }

  void end_message() {
    if (--unanswered_ == 0 && drains_) socket_->close();
  }

  JudgeService& service_;
  const std::string client_;
  Admission& admission_;
  const std::shared_ptr<mcp::Conversation> conversation_;
  const std::shared_ptr<http::WebSocket> socket_;
  EpisodePointer episode_;
  std::atomic<int> unanswered_ = 0;  // messages
  std::atomic<bool> drains_ = false;
};

// ---- by requests --------------------------------------------------------------------------------

void answer(JudgeService& service, const RoutedCall& call, const Answered& answered) {
  if (answered) return call.answer(json_answer(*answered));
  const auto& [code, error] = answered.error();
  http::Answer refusal = error_answer(error, service.queue().retry_after());
  if (std::string_view(code) == "VALIDATION_ERROR") refusal.status = 422;
  call.answer(std::move(refusal));
}

// A client's episodes have the ids that it gives them in /reset, or else none: its latest then.
struct Episodes {
  JudgeService& service;
  ClientEpisodes kept;

  void reset(const RoutedCall& call) {
    const auto body = call.json();
    if (!body) return answer(service, call, refuse(body.error()));
    const std::string id = text_in(*body, "episode_id");
    if (id.size() > kMostId)
      return answer(service, call, refuse(Error{Code::kInvalidArgument, "episode_id is too long"}));
    auto begun = openenv::reset(service, call.client, *body);
    if (!begun) return answer(service, call, refuse(begun.error().code, begun.error().error));
    kept.keep(call.client, id, *begun);
    answer(service, call, observation(**begun, service.info().device, nullptr));
  }

  void step(const RoutedCall& call) {
    const auto body = call.json();
    if (!body) return answer(service, call, refuse(body.error()));
    const Json action = body->is_object() && body->contains("action") ? (*body)["action"] : Json();
    const auto limit = limit_of(*body);
    if (!limit) return answer(service, call, refuse(limit.error()));
    const auto episode = kept.find(call.client, text_in(*body, "episode_id"));
    if (episode) call.call->when_gone([episode] { episode->cancel(); });
    openenv::step(service, call.client, episode, action, *limit,
                  [this, call](const Answered& answered) { answer(service, call, answered); });
  }

  void state(const RoutedCall& call) {
    const auto episode = kept.find(call.client, call.request().query("episode_id"));
    call.answer(json_answer(openenv::state(episode.get())));
  }
};

}  // namespace

void add_routes(JudgeService& service, mcp::Tools& tools, Router& router) {
  const auto episodes = std::shared_ptr<Episodes>(new Episodes{service, ClientEpisodes()});
  router.add({"GET", "/ws", [&service, &tools](const RoutedCall& call) {
                call.metrics->count_request(call.route, 101);
                call.call->accept_web_socket(
                    [&service, &tools, call](std::shared_ptr<http::WebSocket> socket) {
                      std::make_shared<Session>(service, tools, call, std::move(socket))->begin();
                    });
              }});
  router.add({"POST", "/reset", [episodes](const RoutedCall& call) { episodes->reset(call); }});
  router.add({"POST", "/step", [episodes](const RoutedCall& call) { episodes->step(call); }});
  router.add({"GET", "/state", [episodes](const RoutedCall& call) { episodes->state(call); }});
  router.add(
      {"GET", "/schema", [](const RoutedCall& call) { call.answer(json_answer(schemas())); }});
  router.add({"GET", "/metadata", [](const RoutedCall& call) {
                call.answer(json_answer(
                    {{"name", kEnvironment},
                     {"description", "Write a GPU kernel: it is compiled, checked and timed."},
                     {"version", KERNELRL_VERSION},
                     {"documentation_url", nullptr}}));
              }});
}

}  // namespace krl::serve::openenv
