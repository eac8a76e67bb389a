// One connection to a server: TCP or a Unix socket, with TLS or without. Used by the loop's thread,
// by one reading and one writing coroutine at most.
#pragma once

#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "http/base/watch.hpp"

namespace krl::http {

// All functions throw the limits' Trouble, after which the connection is closed.
class Transport final : public Stoppable {
 public:
  using Endpoint = boost::asio::generic::stream_protocol::endpoint;

  explicit Transport(boost::asio::io_context& io);

  // Throw Trouble (kConnect; kTls or kBroken).
  void connect(const Endpoint& to, Limits& limits, Yield yield);
  void begin_tls(boost::asio::ssl::context& context, const std::string& host, Limits& limits,
                 Yield yield);

  // Sends all of it. Each part taken is progress in the limits' phase.
  std::error_code write(std::string_view bytes, Limits& limits, Yield yield);
  // Gives how many bytes have come, at least one; 0: the other side has said its last, or `error`.
  // They are the limits' progress.
  std::size_t read_some(char* to, std::size_t size, std::error_code& error, Limits& limits,
                        Yield yield);
  // No byte has come, and the other side has not closed: fit to be used once more.
  bool is_quiet();
  void end_writing();    // the other side reads an end; without TLS only
  void stop() override;  // closes

 private:
  using Socket = boost::asio::generic::stream_protocol::socket;

  std::error_code broken(const boost::system::error_code& error, const Limits& limits);

  Socket socket_;
  std::optional<boost::asio::ssl::stream<Socket&>> tls_;
};

}  // namespace krl::http
