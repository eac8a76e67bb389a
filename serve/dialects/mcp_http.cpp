#include "serve/dialects/mcp_http.hpp"

#include <memory>
#include <mutex>
#include <utility>

#include "http/base/event_stream.hpp"
#include "serve/dialects/mcp_protocol.hpp"
#include "serve/judging/clients_own.hpp"
#include "serve/judging/secret_id.hpp"
#include "serve/routing/keep_alive.hpp"

namespace krl::serve::mcp {
namespace {

constexpr std::chrono::seconds kSoon{10};
constexpr std::size_t kMostSessions = 10000;
constexpr const char* kSessionHeader = "Mcp-Session-Id";

unsigned status_of_error(int code, bool is_stateless) {
  if (!is_stateless) return 200;  // OpenEnv's validator sends {}, and expects this
  return code == kMethodNotFound ? 404 : 400;
}

// One POST: an answer in JSON, or an event stream once there is a notification, or nothing to say
// for long.
class Exchange : public std::enable_shared_from_this<Exchange> {
 public:
  Exchange(JudgeService& service, RoutedCall call, bool is_stateless, std::string new_session)
      : service_(service),
        call_(std::move(call)),
        is_stateless_(is_stateless),
        has_events_(call_.wants_events()),
        new_session_(std::move(new_session)) {}

  void send(const Json& message) {
    const std::lock_guard lock(mutex_);
    const bool is_last = !message.contains("method");
    if (!is_last && !has_events_) return;
    if (!is_last) begin_events();
    is_over_ = is_last;
    if (!has_begun_) return answer(message);
    call_.call->send_event(http::event_text("message", dumped(message)));
    if (is_last) call_.call->end_events();
  }

  // Begins the stream if the response does not come soon.
  void await_response() {
    const std::lock_guard lock(mutex_);
    if (!has_events_ || is_over_) return;
    service_.alarms().at(Alarms::Clock::now() + kSoon, [weak = weak_from_this()] {
      const auto self = weak.lock();
      if (!self) return;
      const std::lock_guard lock(self->mutex_);
      if (!self->is_over_) self->begin_events();
    });
  }

 private:
  void begin_events() {
    if (std::exchange(has_begun_, true)) return;
    call_.begin_events();
    keep_alive(service_.alarms(), call_.call);
  }

  void answer(const Json& message) {
    const auto error = message.find("error");
    http::Answer answer = json_answer(
        message,
        error == message.end() ? 200 : status_of_error(error->value("code", 0), is_stateless_));
    if (!new_session_.empty()) answer.headers.push_back({kSessionHeader, new_session_});
    call_.answer(std::move(answer));
  }

  JudgeService& service_;
  const RoutedCall call_;
  const bool is_stateless_, has_events_;
  const std::string new_session_;  // if the message opens one
  std::mutex mutex_;               // guards the members below
  bool has_begun_ = false, is_over_ = false;
};

// Why the headers of a request that stands alone do not agree with it; empty if they do.
std::string disagreement(const http::IncomingRequest& request, const Json& message) {
  const Json version = stateless_version_of(message);
  if (version.is_string() && request.header("MCP-Protocol-Version") != version.get<std::string>())
    return "the header MCP-Protocol-Version is not the version in _meta";
  const Json method = message["method"];
  if (method.is_string() && request.header("Mcp-Method") != method.get<std::string>())
    return "the header Mcp-Method is not the method";
  const Json name = message.value(Json::json_pointer("/params/name"), Json());
  if (method == "tools/call" && name.is_string() &&
      request.header("Mcp-Name") != name.get<std::string>())
    return "the header Mcp-Name is not the tool's name";
  return {};
}

class Endpoint {
  using ConversationPointer = std::shared_ptr<Conversation>;

 public:
  Endpoint(JudgeService& service, Tools& tools) : service_(service), tools_(tools) {}

  void post(const RoutedCall& call) {
    const auto message = call.json();
    if (!message)
      return call.answer(
          json_answer(error_message(nullptr, kParseError, message.error().message), 400));
    const std::string_view version = call.request().header("MCP-Protocol-Version");
    const bool is_stateless = (!version.empty() && !is_handshake_version(version)) ||
                              !stateless_version_of(*message).is_null();
    if (is_stateless && is_request(*message)) {
      const std::string why = disagreement(call.request(), *message);
      if (!why.empty())
        return call.answer(json_answer(error_message((*message)["id"], kHeaderMismatch, why), 400));
    }
    converse(call, *message, is_stateless);
  }

  void close(const RoutedCall& call) {
    const std::string id(call.request().header(kSessionHeader));
    const ConversationPointer conversation = sessions_.take(call.client, id);
    if (!conversation) return call.answer(no_session());
    conversation->cancel_all();
    call.answer({204, {}, {}});
  }

 private:
  static http::Answer no_session() {
    return json_answer(error_message(nullptr, kInvalidRequest,
                                     "there is no such session here; send initialize without one"),
                       404);
  }

  void converse(const RoutedCall& call, const Json& message, bool is_stateless) {
    const std::string id(is_stateless ? "" : call.request().header(kSessionHeader));
    ConversationPointer conversation = id.empty()
                                           ? std::make_shared<Conversation>(tools_, call.client)
                                           : sessions_.find(call.client, id);
    if (!conversation) return call.answer(no_session());
    const bool opens =
        id.empty() && !is_stateless && is_request(message) && message["method"] == "initialize";
    const std::string new_id = opens ? secret_id() : "";
    if (opens) sessions_.keep(call.client, new_id, conversation);
    const auto exchange = std::make_shared<Exchange>(service_, call, is_stateless, new_id);
    const bool is_answered = conversation->take(
        message, [exchange](const Json& sent) { exchange->send(sent); }, is_stateless);
    if (!is_answered) return call.answer({202, {}, {}});
    exchange->await_response();
    // The answer to a client that has gone cannot be had later.
    call.call->when_gone([conversation, request = message.is_object()
                                                      ? message.value("id", Json())
                                                      : Json()] { conversation->cancel(request); });
  }

  JudgeService& service_;
  Tools& tools_;
  ClientsOwn<ConversationPointer> sessions_{kMostSessions};  // that handshakes have opened
};

}  // namespace

void add_routes(JudgeService& service, Tools& tools, Router& router) {
  const auto endpoint = std::make_shared<Endpoint>(service, tools);
  router.add({"POST",
              "/mcp",
              [endpoint](const RoutedCall& call) { endpoint->post(call); },
              {{"summary", "A message of the Model Context Protocol"}}});
  router.add({"DELETE",
              "/mcp",
              [endpoint](const RoutedCall& call) { endpoint->close(call); },
              {{"summary", "Ends a session of the Model Context Protocol"}}});
}

}  // namespace krl::serve::mcp
