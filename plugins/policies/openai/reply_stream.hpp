// An answer that arrives as server-sent events. A value; not thread-safe.
#pragma once

#include "http/base/event_stream.hpp"
#include "http/base/message.hpp"
#include "plugins/policies/openai/dialect.hpp"

namespace krl::openai {

class ReplyStream {
 public:
  // Writes into `reply`; keeps references.
  ReplyStream(const Dialect& dialect, const Ask& ask, Reply& reply)
      : dialect_(dialect), ask_(ask), reply_(reply) {}

  // Reads bytes of the body. Throws krl::Failure if an event does not match the dialect, or is an
  // error of the server's; earlier events stay.
  void feed(std::string_view bytes);

  // The error with which the server has ended the stream, as an answer of the status that it names.
  const std::optional<http::Answer>& error() const { return error_; }

  // The body has ended, complete or not: finish(reply). False if nothing of an answer came.
  bool finish();

 private:
  const Dialect& dialect_;
  const Ask& ask_;
  Reply& reply_;
  http::EventStream events_;
  std::optional<http::Answer> error_;
};

// Marks choices that have not ended KRL_STOP_ABORTED, and removes empty ones.
void finish(Reply& reply);

}  // namespace krl::openai
