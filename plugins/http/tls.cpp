#include "plugins/http/tls.hpp"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <boost/asio/ip/address.hpp>
#include <cerrno>
#include <climits>
#include <kernelrl/broken_pipe_guard.hpp>
#include <kernelrl/values.hpp>

namespace krl::http {
namespace {

int size_for_ssl(std::size_t size) {
  return static_cast<int>(std::min<std::size_t>(size, INT_MAX));
}

std::string reason_of_last_error() {
  const char* const reason = ::ERR_reason_error_string(::ERR_peek_last_error());
  return reason == nullptr ? "unknown error" : reason;
}

bool is_address(const std::string& host) {
  boost::system::error_code error;
  boost::asio::ip::make_address(host, error);
  return !error;
}

}  // namespace

void TlsContext::Free::operator()(ssl_ctx_st* context) const { ::SSL_CTX_free(context); }
void TlsSession::Free::operator()(ssl_st* session) const { ::SSL_free(session); }

TlsContext::TlsContext(const std::string& ca_file, bool verify)
    : context_(::SSL_CTX_new(::TLS_client_method())) {
  if (!context_) throw krl::Failure(KRL_INTERNAL, "OpenSSL cannot create a TLS context");
  SSL_CTX* const context = context_.get();
  SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
  SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE |
                                SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  ::SSL_CTX_set_verify(context, verify ? SSL_VERIFY_PEER : SSL_VERIFY_NONE, nullptr);
  constexpr unsigned char kHttp1[] = "\x08http/1.1";
  ::SSL_CTX_set_alpn_protos(context, kHttp1, sizeof kHttp1 - 1);
  if (!verify) return;
  ::ERR_clear_error();
  if (ca_file.empty()) {
    ::SSL_CTX_set_default_verify_paths(context);
  } else if (::SSL_CTX_load_verify_file(context, ca_file.c_str()) != 1) {
    invalid_argument("cannot read certificates from " + ca_file + ": " + reason_of_last_error() +
                     "; it must be a file of PEM");
  }
}

TlsSession::TlsSession(const TlsContext& context, int socket, const std::string& host)
    : session_(::SSL_new(context.context_.get())) {
  SSL* const session = session_.get();
  bool ready = session != nullptr && ::SSL_set_fd(session, socket) == 1;
  if (ready && is_address(host)) {
    ready = ::X509_VERIFY_PARAM_set1_ip_asc(::SSL_get0_param(session), host.c_str()) == 1;
  } else if (ready) {
    ready = ::SSL_set1_host(session, host.c_str()) == 1 &&
            SSL_set_tlsext_host_name(session, host.c_str()) == 1;
  }
  if (!ready) throw krl::Failure(KRL_INTERNAL, "OpenSSL cannot create a session for " + host);
  ::SSL_set_connect_state(session);
}

IoStep TlsSession::handshake() {
  const BrokenPipeGuard guard;
  ::ERR_clear_error();
  return step_of(::SSL_do_handshake(session_.get()));
}

IoStep TlsSession::read(char* to, std::size_t size) {
  const BrokenPipeGuard guard;
  ::ERR_clear_error();
  return step_of(::SSL_read(session_.get(), to, size_for_ssl(size)));
}

IoStep TlsSession::write(const char* from, std::size_t size) {
  const BrokenPipeGuard guard;
  ::ERR_clear_error();
  return step_of(::SSL_write(session_.get(), from, size_for_ssl(size)));
}

IoStep TlsSession::peek() {
  const BrokenPipeGuard guard;
  ::ERR_clear_error();
  char byte;
  return step_of(::SSL_peek(session_.get(), &byte, 1));
}

IoStep TlsSession::step_of(int result) const {
  const int system_error = errno;
  if (result > 0) return {IoStep::kDone, static_cast<std::size_t>(result)};
  switch (::SSL_get_error(session_.get(), result)) {
    case SSL_ERROR_WANT_READ:
      return {IoStep::kWantsRead};
    case SSL_ERROR_WANT_WRITE:
      return {IoStep::kWantsWrite};
    case SSL_ERROR_ZERO_RETURN:
      return {IoStep::kEnd};
    case SSL_ERROR_SYSCALL:
      return {IoStep::kBroken, 0, {system_error, std::system_category()}};
    default:
      break;
  }
  if (ERR_GET_REASON(::ERR_peek_last_error()) == SSL_R_UNEXPECTED_EOF_WHILE_READING) {
    return {IoStep::kBroken, 0, std::make_error_code(std::errc::connection_reset)};
  }
  const long verified = ::SSL_get_verify_result(session_.get());
  if (verified != X509_V_OK && !::SSL_is_init_finished(session_.get())) {
    return {IoStep::kRefused, 0, {}, ::X509_verify_cert_error_string(verified)};
  }
  return {IoStep::kRefused, 0, {}, reason_of_last_error()};
}

}  // namespace krl::http
