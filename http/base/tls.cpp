#include "http/base/tls.hpp"

#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <boost/asio/ip/address.hpp>
#include <boost/asio/ssl/error.hpp>
#include <kernelrl/values.hpp>

namespace krl::http {

namespace ssl = boost::asio::ssl;
using boost::system::error_code;

namespace {

ssl::context modern(ssl::context::method method) {
  ssl::context context(method);
  SSL_CTX_set_min_proto_version(context.native_handle(), TLS1_2_VERSION);
  // An idle connection takes less memory.
  SSL_CTX_set_mode(context.native_handle(), SSL_MODE_RELEASE_BUFFERS);
  return context;
}

}  // namespace

ssl::context tls_context(const std::string& ca_file) {
  ssl::context context = modern(ssl::context::tls_client);
  constexpr unsigned char kHttp1[] = "\x08http/1.1";
  ::SSL_CTX_set_alpn_protos(context.native_handle(), kHttp1, sizeof kHttp1 - 1);
  context.set_verify_mode(ssl::verify_peer);
  error_code error;
  if (ca_file.empty()) {
    context.set_default_verify_paths(error);
  } else if (context.load_verify_file(ca_file, error)) {
    invalid_argument("cannot read certificates from " + ca_file + ": " + error.message() +
                     "; it must be a file of PEM");
  }
  return context;
}

ssl::context server_tls_context(const std::string& certificate_file, const std::string& key_file) {
  ssl::context context = modern(ssl::context::tls_server);
  SSL_CTX_set_options(context.native_handle(), SSL_OP_NO_RENEGOTIATION);
  // Without it OpenSSL would ask for the passphrase at the terminal.
  context.set_password_callback([](auto, auto) { return std::string(); });
  error_code error;
  if (context.use_certificate_chain_file(certificate_file, error)) {
    invalid_argument("cannot use the certificate in " + certificate_file + ": " + error.message() +
                     "; it must be a file of PEM, the server's own certificate first");
  }
  if (context.use_private_key_file(key_file, ssl::context::pem, error)) {
    invalid_argument(
        "cannot use the private key in " + key_file + ": " + error.message() +
        "; it must be a file of PEM without a passphrase, the key of the certificate in " +
        certificate_file);
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
