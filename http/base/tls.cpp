#include "http/base/tls.hpp"

#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <boost/asio/ip/address.hpp>
#include <boost/asio/ssl/error.hpp>
#include <kernelrl/values.hpp>

namespace krl::http {

namespace ssl = boost::asio::ssl;
using boost::system::error_code;

ssl::context tls_context(const std::string& ca_file, bool verify) {
  ssl::context context(ssl::context::tls_client);
  SSL_CTX* const native = context.native_handle();
  SSL_CTX_set_min_proto_version(native, TLS1_2_VERSION);
  SSL_CTX_set_mode(native, SSL_MODE_RELEASE_BUFFERS);
  constexpr unsigned char kHttp1[] = "\x08http/1.1";
  ::SSL_CTX_set_alpn_protos(native, kHttp1, sizeof kHttp1 - 1);
  context.set_verify_mode(verify ? ssl::verify_peer : ssl::verify_none);
  if (!verify) return context;
  error_code error;
  if (ca_file.empty()) {
    context.set_default_verify_paths(error);
  } else if (context.load_verify_file(ca_file, error)) {
    invalid_argument("cannot read certificates from " + ca_file + ": " + error.message() +
                     "; it must be a file of PEM");
  }
  return context;
}

void expect_host(SSL* session, const std::string& host) {
  error_code is_name;
  boost::asio::ip::make_address(host, is_name);
  const bool set =
      is_name ? ::SSL_set1_host(session, host.c_str()) == 1 &&
                    SSL_set_tlsext_host_name(session, host.c_str()) == 1
              : ::X509_VERIFY_PARAM_set1_ip_asc(::SSL_get0_param(session), host.c_str()) == 1;
  if (!set) throw krl::Failure(KRL_INTERNAL, "OpenSSL cannot create a session for " + host);
}

std::string refusal_of_tls(SSL* session, const error_code& error) {
  if (error.category() != boost::asio::error::get_ssl_category()) return {};
  const long verified = ::SSL_get_verify_result(session);
  if (verified != X509_V_OK && !::SSL_is_init_finished(session))
    return ::X509_verify_cert_error_string(verified);
  return error.message();
}

bool has_unread(SSL* session) {
  char byte;
  return ::SSL_get_error(session, ::SSL_peek(session, &byte, 1)) != SSL_ERROR_WANT_READ;
}

}  // namespace krl::http
