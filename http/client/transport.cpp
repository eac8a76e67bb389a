#include "http/client/transport.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <cerrno>

#include "http/base/tls.hpp"

namespace krl::http {

namespace asio = boost::asio;
using boost::system::error_code;

void Transport::connect(const Socket::endpoint_type& to, Limits& limits, Yield yield) {
  const int family = to.protocol().family();
  // Not left to asio: a candidate's process must not inherit it.
  const int socket = ::socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  std::error_code error(errno, std::system_category());
  if (socket >= 0) {
    socket_.assign(to.protocol(), socket);
    const int on = 1;
    if (family != AF_UNIX) ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    error = wait(limits, yield, [&](auto token) { socket_.async_connect(to, token); });
  }
  if (error)
    throw Trouble{Cause::kConnect, limits.phase(), "no connection: " + error.message(), error};
}

void Transport::begin_tls(asio::ssl::context& context, const std::string& host, Limits& limits,
                          Yield yield) {
  tls_.emplace(socket_, context);
  expect_host(tls_->native_handle(), host);
  const error_code error = wait(limits, yield, [&](auto token) {
    tls_->async_handshake(asio::ssl::stream_base::client, token);
  });
  if (error) throw Trouble{Cause::kBroken, limits.phase(), "closed in the TLS handshake", error};
}

void Transport::throw_if_tls_refuses(const error_code& error, const Limits& limits) {
  const std::string why = tls_ ? refusal_of_tls(tls_->native_handle(), error) : "";
  if (!why.empty()) throw Trouble{Cause::kTls, limits.phase(), "TLS failed: " + why};
}

bool Transport::is_quiet() {
  if (tls_ && has_unread(tls_->native_handle())) return false;
  char byte;
  return ::recv(socket_.native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0 &&
         (errno == EAGAIN || errno == EWOULDBLOCK);
}

}  // namespace krl::http
