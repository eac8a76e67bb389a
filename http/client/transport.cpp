#include "http/client/transport.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <boost/asio/buffer.hpp>
#include <boost/asio/ssl/error.hpp>
#include <cerrno>

#include "http/base/tls.hpp"

namespace krl::http {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;

Trouble not_connected(int error, const Limits& limits) {
  const std::error_code code(error, std::system_category());
  return {Cause::kConnect, limits.phase(), "no connection: " + code.message(), code};
}

}  // namespace

Transport::Transport(asio::io_context& io) : socket_(io) {}

void Transport::connect(const Endpoint& to, Limits& limits, Yield yield) {
  const int family = to.protocol().family();
  // Not left to asio: a candidate's process must not inherit it.
  const int socket = ::socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (socket < 0) throw not_connected(errno, limits);
  socket_.assign(asio::generic::stream_protocol(family, 0), socket);
  if (family != AF_UNIX) {
    const int on = 1;
    ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  }
  error_code error;
  limits.during(*this, [&] { socket_.async_connect(to, yield[error]); });
  if (error) throw not_connected(error.value(), limits);
}

void Transport::begin_tls(asio::ssl::context& context, const std::string& host, Limits& limits,
                          Yield yield) {
  tls_.emplace(socket_, context);
  expect_host(tls_->native_handle(), host);
  error_code error;
  limits.during(*this,
                [&] { tls_->async_handshake(asio::ssl::stream_base::client, yield[error]); });
  if (!error) return;
  const std::string why = refusal_of_tls(tls_->native_handle(), error);
  if (why.empty())
    throw Trouble{Cause::kBroken, limits.phase(), "closed in the TLS handshake", error};
  throw Trouble{Cause::kTls, limits.phase(), "no TLS with " + host + ": " + why};
}

std::error_code Transport::write(std::string_view bytes, Limits& limits, Yield yield) {
  while (!bytes.empty()) {
    const asio::const_buffer left(bytes.data(), bytes.size());
    error_code error;
    std::size_t n = 0;
    limits.during(*this, [&] {
      n = tls_ ? tls_->async_write_some(left, yield[error])
               : socket_.async_write_some(left, yield[error]);
    });
    if (error) return broken(error, limits);
    bytes.remove_prefix(n);
    limits.progress();
  }
  return {};
}

std::size_t Transport::read_some(char* to, std::size_t size, std::error_code& error, Limits& limits,
                                 Yield yield) {
  const asio::mutable_buffer room(to, size);
  error_code failed;
  std::size_t n = 0;
  limits.during(*this, [&] {
    n = tls_ ? tls_->async_read_some(room, yield[failed])
             : socket_.async_read_some(room, yield[failed]);
  });
  if (failed == asio::error::eof) return 0;
  if (failed) error = broken(failed, limits);
  limits.progress();
  return n;
}

std::error_code Transport::broken(const error_code& error, const Limits& limits) {
  if (error == asio::ssl::error::stream_truncated)
    return std::make_error_code(std::errc::connection_reset);
  if (!tls_) return error;
  const std::string why = refusal_of_tls(tls_->native_handle(), error);
  if (!why.empty()) throw Trouble{Cause::kTls, limits.phase(), "TLS failed: " + why};
  return error;
}

bool Transport::is_quiet() {
  if (tls_ && has_unread(tls_->native_handle())) return false;
  char byte;
  return ::recv(socket_.native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0 &&
         (errno == EAGAIN || errno == EWOULDBLOCK);
}

void Transport::end_writing() {
  error_code ignored;
  socket_.shutdown(Socket::shutdown_send, ignored);
}

void Transport::stop() {
  error_code ignored;
  socket_.close(ignored);
}

}  // namespace krl::http
