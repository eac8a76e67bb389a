// One connection to a server: TCP or a Unix socket, with TLS or without. Used by the loop's thread,
// by one reading and one writing coroutine at most.
#pragma once

#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <optional>
#include <string>
#include <utility>

#include "http/base/watch.hpp"

namespace krl::http {

class Transport {
 public:
  using Socket = boost::asio::generic::stream_protocol::socket;
  using executor_type = Socket::executor_type;

  explicit Transport(boost::asio::io_context& io) : socket_(io) {}

  // Throw Trouble (kConnect; kTls or kBroken).
  void connect(const Socket::endpoint_type& to, Limits& limits, Yield yield);
  void begin_tls(boost::asio::ssl::context& context, const std::string& host, Limits& limits,
                 Yield yield);

  // Waits for begin(token), which begins an operation on this connection, and gives its error. Its
  // end is the limits' progress. Throws the limits' Trouble, after which the connection is closed,
  // and one of kTls for an error that is TLS's.
  template <class Begin>
  boost::system::error_code wait(Limits& limits, Yield yield, const Begin& begin) {
    boost::system::error_code error;
    limits.during([this] { close(); }, [&] { begin(yield[error]); });
    limits.progress();
    throw_if_tls_refuses(error, limits);
    return error;
  }

  // An asynchronous stream, for the operations of asio and Beast.
  executor_type get_executor() { return socket_.get_executor(); }
  template <class Buffers, class Token>
  auto async_read_some(const Buffers& buffers, Token&& token) {
    return initiate(token, [this, buffers](auto handler) {
      tls_ ? tls_->async_read_some(buffers, std::move(handler))
           : socket_.async_read_some(buffers, std::move(handler));
    });
  }
  template <class Buffers, class Token>
  auto async_write_some(const Buffers& buffers, Token&& token) {
    return initiate(token, [this, buffers](auto handler) {
      tls_ ? tls_->async_write_some(buffers, std::move(handler))
           : socket_.async_write_some(buffers, std::move(handler));
    });
  }

  // No byte has come, and the other side has not closed: fit to be used once more.
  bool is_quiet();
  // The other side reads an end; without TLS only.
  void end_writing() { socket_.shutdown(Socket::shutdown_send, ignored_); }
  void close() { socket_.close(ignored_); }

 private:
  template <class Token, class Begin>
  static auto initiate(Token& token, Begin begin) {
    return boost::asio::async_initiate<Token, void(boost::system::error_code, std::size_t)>(
        std::move(begin), token);
  }
  void throw_if_tls_refuses(const boost::system::error_code& error, const Limits& limits);

  Socket socket_;
  boost::system::error_code ignored_;
  std::optional<boost::asio::ssl::stream<Socket&>> tls_;
};

}  // namespace krl::http
