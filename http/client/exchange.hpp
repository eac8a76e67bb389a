// One request and its response on a connection. On a coroutine's stack; throws Trouble.
#pragma once

#include <boost/beast/core/flat_buffer.hpp>
#include <memory>
#include <string>

#include "http/client/answer_reader.hpp"
#include "http/client/transport.hpp"

namespace krl::http {

class Exchange {
 public:
  Exchange(Transport& transport, const Options& options, Limits& limits, Yield yield)
      : transport_(transport), options_(options), limits_(limits), yield_(yield) {}

  // `head` ends with its empty line. An error is not a Trouble yet: a server that refuses early
  // stops reading, and its answer contains the reason.
  void send(std::string head, std::string_view body);

  // Reads the head of the answer, and skips those with a status of 1xx, except 101. Null: the
  // connection was closed before a byte of an answer came, see closed_early().
  std::unique_ptr<AnswerReader> read_head(bool has_body, const OnBody* on_body);
  void read_body(AnswerReader& reader);
  Trouble closed_early() const;

  // The connection may serve another exchange.
  bool leaves_connection_usable(const AnswerReader& reader) const;
  // The bytes after the head, if the body was not read.
  std::string_view rest() const;

 private:
  // Consumes received bytes, and waits for more if they do not suffice. Returns false at the end.
  bool read_more(AnswerReader& reader);
  bool receive();
  [[noreturn]] void refuse(const boost::system::error_code& error) const;

  Transport& transport_;
  const Options& options_;
  Limits& limits_;
  Yield yield_;
  boost::beast::flat_buffer buffer_;  // received and not yet read
  std::error_code send_error_, receive_error_;
  bool has_answer_ = false;  // a byte of one came
};

}  // namespace krl::http
