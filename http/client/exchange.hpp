// One request and its answer on a connection, by Beast. On a coroutine's stack; throws Trouble.
#pragma once

#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/buffer_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <optional>
#include <string_view>

#include "http/base/message.hpp"
#include "http/client/requests.hpp"
#include "http/client/transport.hpp"

namespace krl::http {

class Exchange {
 public:
  Exchange(Transport& transport, const Options& options, Limits& limits, Yield yield)
      : transport_(transport),
        options_(options),
        limits_(limits),
        yield_(yield),
        buffer_(options.max_head + kReadBytes) {}

  // An error is not a Trouble yet: a server that refuses early stops reading, and its answer
  // contains the reason.
  void send(const Message& message);

  // Reads the head of the answer, and skips those with a status of 1xx, except 101. False: the
  // connection was closed before a byte of an answer came, see closed_early().
  bool read_head(bool has_body);
  Trouble closed_early() const;
  // The answer's head, without a body.
  Answer answer() const;
  // Reads the body into `answer`, or hands it to `on_body` if the answer is good and it is not null.
  void read_body(Answer& answer, const OnBody* on_body);

  // The connection may serve another exchange.
  bool leaves_connection_usable() const;
  // The bytes after the head, if the body was not read.
  std::string_view rest() const;

 private:
  using Error = boost::system::error_code;
  static constexpr std::size_t kReadBytes = std::size_t{16} << 10;  // at once; a record of TLS

  bool receive_first();
  [[noreturn]] void refuse(const Error& error) const;

  Transport& transport_;
  const Options& options_;
  Limits& limits_;
  Yield yield_;
  // Received and not yet read. Its limit ends what is never complete, such as a chunk's head
  // without an end.
  boost::beast::flat_buffer buffer_;
  std::optional<boost::beast::http::response_parser<boost::beast::http::buffer_body>> parser_;
  Error send_error_, receive_error_;
};

}  // namespace krl::http
