#include "plugins/http/transport.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <cerrno>

namespace krl::http {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;
using Socket = asio::generic::stream_protocol::socket;

// Converts the result of recv() or send() on a non-blocking socket.
IoStep step_of(ssize_t result, IoStep::Result when_it_would_block) {
  if (result >= 0) return {IoStep::kDone, static_cast<std::size_t>(result)};
  if (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR) return {when_it_would_block};
  return {IoStep::kBroken, 0, {errno, std::system_category()}};
}

IoStep receive(int socket, char* to, std::size_t size, int flags) {
  const IoStep step = step_of(::recv(socket, to, size, flags), IoStep::kWantsRead);
  return step.result == IoStep::kDone && step.bytes == 0 ? IoStep{IoStep::kEnd} : step;
}

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

void Transport::begin_tls(const TlsContext& context, const std::string& host, Limits& limits,
                          Yield yield) {
  tls_.emplace(context, socket_.native_handle(), host);
  const IoStep step = finish(limits, yield, [this] { return tls_->handshake(); });
  if (step.result == IoStep::kDone) return;
  if (step.result == IoStep::kRefused) {
    throw Trouble{Cause::kTls, limits.phase(), "no TLS with " + host + ": " + step.why};
  }
  throw Trouble{Cause::kBroken, limits.phase(), "closed in the TLS handshake", step.error};
}

template <class Step>
IoStep Transport::finish(Limits& limits, Yield yield, const Step& step) {
  for (;;) {
    IoStep result = step();
    error_code ignored;  // an error is the next step's
    if (result.result == IoStep::kWantsRead) {
      limits.during(*this, [&] { socket_.async_wait(Socket::wait_read, yield[ignored]); });
    } else if (result.result == IoStep::kWantsWrite) {
      limits.during(*this, [&] { socket_.async_wait(Socket::wait_write, yield[ignored]); });
    } else {
      return result;
    }
  }
}

std::error_code Transport::write(std::string_view bytes, Limits& limits, Yield yield) {
  while (!bytes.empty()) {
    const IoStep step = finish(limits, yield, [&] {
      if (tls_) return tls_->write(bytes.data(), bytes.size());
      return step_of(::send(socket_.native_handle(), bytes.data(), bytes.size(), MSG_NOSIGNAL),
                     IoStep::kWantsWrite);
    });
    if (step.result != IoStep::kDone) return broken(step, limits);
    bytes.remove_prefix(step.bytes);
    limits.progress();
  }
  return {};
}

std::size_t Transport::read_some(char* to, std::size_t size, std::error_code& error, Limits& limits,
                                 Yield yield) {
  const IoStep step = finish(limits, yield, [&] {
    return tls_ ? tls_->read(to, size) : receive(socket_.native_handle(), to, size, 0);
  });
  if (step.result == IoStep::kEnd) return 0;
  if (step.result != IoStep::kDone) error = broken(step, limits);
  limits.progress();
  return step.bytes;
}

std::error_code Transport::broken(const IoStep& step, const Limits& limits) {
  if (step.result == IoStep::kRefused) {
    throw Trouble{Cause::kTls, limits.phase(), "TLS failed: " + step.why};
  }
  return step.result == IoStep::kBroken ? step.error
                                        : std::make_error_code(std::errc::connection_reset);
}

bool Transport::is_quiet() {
  char byte;
  const IoStep step = tls_ ? tls_->peek() : receive(socket_.native_handle(), &byte, 1, MSG_PEEK);
  return step.result == IoStep::kWantsRead;
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
