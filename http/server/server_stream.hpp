// The bytes of an accepted connection, with TLS or without, as one type of asynchronous stream: all
// of a server is compiled once. Used on its executor.
#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/beast/core/role.hpp>
#include <optional>
#include <utility>

namespace krl::http {

class ServerStream {
 public:
  using Socket = boost::asio::ip::tcp::socket;
  using executor_type = Socket::executor_type;

  // `tls`: null without; else it outlives the stream.
  ServerStream(Socket socket, boost::asio::ssl::context* tls) : socket_(std::move(socket)) {
    if (tls != nullptr) tls_.emplace(socket_, *tls);
  }
  ServerStream(const ServerStream&) = delete;
  ServerStream& operator=(const ServerStream&) = delete;

  executor_type get_executor() { return socket_.get_executor(); }
  Socket& socket() { return socket_; }

  template <class Handler>
  void async_handshake(Handler&& handler) {
    if (tls_) {
      tls_->async_handshake(boost::asio::ssl::stream_base::server, std::forward<Handler>(handler));
    } else {
      boost::asio::post(get_executor(), [handler = std::forward<Handler>(handler)]() mutable {
        handler(boost::system::error_code());
      });
    }
  }
  template <class Buffers, class Handler>
  void async_read_some(const Buffers& buffers, Handler&& handler) {
    if (tls_)
      tls_->async_read_some(buffers, std::forward<Handler>(handler));
    else
      socket_.async_read_some(buffers, std::forward<Handler>(handler));
  }
  template <class Buffers, class Handler>
  void async_write_some(const Buffers& buffers, Handler&& handler) {
    if (tls_)
      tls_->async_write_some(buffers, std::forward<Handler>(handler));
    else
      socket_.async_write_some(buffers, std::forward<Handler>(handler));
  }

  // Tells the other side that nothing more comes, as far as it still listens.
  void end_writing() {
    boost::system::error_code ignored;
    socket_.shutdown(Socket::shutdown_send, ignored);
  }
  void close() {
    boost::system::error_code ignored;
    socket_.close(ignored);
  }

 private:
  Socket socket_;
  std::optional<boost::asio::ssl::stream<Socket&>> tls_;
};

// Boost.Beast's WebSockets find these two by the type of their argument.
inline void beast_close_socket(ServerStream& stream) { stream.close(); }
template <class Handler>
void async_teardown(boost::beast::role_type, ServerStream& stream, Handler&& handler) {
  stream.end_writing();
  boost::asio::post(stream.get_executor(), [handler = std::forward<Handler>(handler)]() mutable {
    handler(boost::system::error_code());
  });
}

}  // namespace krl::http
