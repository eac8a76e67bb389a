#include "http/server/server_call.hpp"

#include "http/server/connection.hpp"
#include "http/server/target.hpp"

namespace krl::http {

std::string IncomingRequest::query(std::string_view name) const {
  return query_value(target, name);
}

ServerCall::ServerCall(std::shared_ptr<Connection> connection, IncomingRequest request)
    : connection_(std::move(connection)), request_(std::move(request)) {}

ServerCall::~ServerCall() {
  if (!is_answered_) {
    connection_->answer({500, {}, {}});
  } else if (!is_ended_) {
    connection_->end_events();
  }
}

void ServerCall::answer(Answer answer) {
  if (is_answered_.exchange(true)) return;
  is_ended_ = true;
  connection_->answer(std::move(answer));
}

void ServerCall::when_gone(std::function<void()> gone) {
  if (!is_ended_) connection_->when_gone(std::move(gone));
}

void ServerCall::begin_events() {
  if (!is_answered_.exchange(true)) connection_->begin_events();
}

void ServerCall::send_event(std::string text) {
  if (!is_ended_) connection_->send_event(std::move(text));
}

void ServerCall::end_events() {
  if (!is_ended_.exchange(true)) connection_->end_events();
}

void ServerCall::accept_web_socket(std::function<void(std::shared_ptr<WebSocket>)> opened) {
  if (is_answered_.exchange(true)) return;
  is_ended_ = true;
  connection_->accept_web_socket(std::move(opened));
}

}  // namespace krl::http
