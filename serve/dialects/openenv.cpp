#include "serve/dialects/openenv.hpp"

#include "core/base/log.hpp"
#include "serve/dialects/openenv_messages.hpp"
#include "serve/judging/client_episodes.hpp"
#include "service/kernels/evaluation_request.hpp"

namespace krl::serve::openenv {
namespace {

// Clients give up after 60 s without an answer.
constexpr std::chrono::seconds kLimit{55};

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

tl::expected<EpisodePointer, Refusal> reset(JudgeService& service, const std::string& client,
                                            const Json& parameters) {
  if (const Status status = service.queue().admits(client, kLimit); !status)
    return refuse("CAPACITY_REACHED", status.error());
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

void step(JudgeService& service, const std::string& client, const EpisodePointer& episode,
          const Json& action, std::function<void(Answered)> done) {
  if (const Status right = check_action(action); !right) return done(refuse(right.error()));
  if (!episode)
    return done(refuse("EXECUTION_ERROR",
                       {Code::kFailedPrecondition, "there is no episode; reset begins one"}));
  if (const Status status = service.queue().admits(client, kLimit); !status)
    return done(refuse("CAPACITY_REACHED", status.error()));
  episode->answer(read_code(action["code"].get<std::string>()),
                  [&service, episode, done = std::move(done)](const Result<JudgedTurn>& judged) {
                    if (!judged) return done(refuse(judged.error()));
                    done(observation(*episode, service.info().device, &*judged));
                  });
}

// ---- over a WebSocket ---------------------------------------------------------------------------

// One client's connection, and its episode. On the connection's thread.
class Session : public std::enable_shared_from_this<Session> {
 public:
  Session(JudgeService& service, std::string client, std::shared_ptr<http::WebSocket> socket)
      : service_(service), client_(std::move(client)), socket_(std::move(socket)) {}

  void begin() {
    socket_->listen({[self = shared_from_this()](const std::string& text) { self->hear(text); },
                     [self = shared_from_this()] { self->leave(); }});
  }

 private:
  // What is thrown ends this message, and not the server.
  void hear(const std::string& text) {
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
      return step(service_, client_, episode_, data,
                  [self = shared_from_this()](const Answered& answered) { self->tell(answered); });
    if (type == "state") return send("state", openenv::state(episode_.get()));
    if (type == "close") return socket_->close();
    tell(refuse("UNKNOWN_TYPE",
                {Code::kInvalidArgument,
                 "unknown message type '" + type + "'; there are reset, step, state and close"}));
  }

  void begin_episode(const Json& parameters) {
    auto begun = reset(service_, client_, parameters);
    if (!begun) return tell(refuse(begun.error().code, begun.error().error));
    leave();
    episode_ = *std::move(begun);
    tell(observation(*episode_, service_.info().device, nullptr));
  }

  void leave() {
    if (episode_) episode_->leave();
  }

  void tell(const Answered& answered) {
    if (answered) return send("observation", *answered);
    send("error", {{"message", answered.error().error.message}, {"code", answered.error().code}});
  }

  void send(const char* type, Json data) {
    const Json message = {{"type", type}, {"data", std::move(data)}};
    socket_->send(message.dump(-1, ' ', false, Json::error_handler_t::replace));
  }

  JudgeService& service_;
  const std::string client_;
  const std::shared_ptr<http::WebSocket> socket_;
  EpisodePointer episode_;
};

// ---- by requests --------------------------------------------------------------------------------

void answer(JudgeService& service, const RoutedCall& call, const Answered& answered) {
  if (answered) return call.answer(json_answer(*answered));
  const auto& [code, error] = answered.error();
  const bool may_help = std::string_view(code) == "CAPACITY_REACHED";
  http::Answer refusal =
      error_answer(error, may_help ? service.queue().retry_after() : std::chrono::seconds(0));
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
    const auto episode = kept.find(call.client, text_in(*body, "episode_id"));
    if (episode) call.call->when_gone([episode] { episode->cancel(); });
    openenv::step(service, call.client, episode, action,
                  [this, call](const Answered& answered) { answer(service, call, answered); });
  }

  void state(const RoutedCall& call) {
    const auto episode = kept.find(call.client, call.request().query("episode_id"));
    call.answer(json_answer(openenv::state(episode.get())));
  }
};

}  // namespace

void add_routes(JudgeService& service, Router& router) {
  const auto episodes = std::shared_ptr<Episodes>(new Episodes{service, {}});
  router.add({"GET", "/ws", [&service](const RoutedCall& call) {
                call.metrics->count_request(call.route, 101);
                call.call->accept_web_socket(
                    [&service, client = call.client](std::shared_ptr<http::WebSocket> socket) {
                      std::make_shared<Session>(service, client, std::move(socket))->begin();
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
