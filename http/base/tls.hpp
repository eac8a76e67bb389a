// TLS 1.2 and later: what a client trusts, what a server shows, and the errors that are TLS's.
#pragma once

#include <boost/asio/ssl/context.hpp>
#include <boost/system/error_code.hpp>
#include <string>

namespace krl::http {

// `ca_file`: PEM; empty: the authorities that the system trusts. Throws
// krl::Failure(KRL_INVALID_ARGUMENT) if it cannot be read.
boost::asio::ssl::context tls_context(const std::string& ca_file);

// A server's: `certificate_file` holds its certificate and then those of the authorities between it
// and a trusted one, `key_file` its private key; both are PEM. Throws
// krl::Failure(KRL_INVALID_ARGUMENT), which names the file and what is wrong with it.
boost::asio::ssl::context server_tls_context(const std::string& certificate_file,
                                             const std::string& key_file);

// Makes a session ask for the certificate of `host`, a name or an address.
void expect_host(ssl_st* session, const std::string& host);

// Returns what TLS refuses, as opposed to a connection that broke; empty if it is no such error.
std::string refusal_of_tls(ssl_st* session, const boost::system::error_code& error);

// True if a session holds bytes that were not read, or its other side has said its last.
bool has_unread(ssl_st* session);

}  // namespace krl::http
