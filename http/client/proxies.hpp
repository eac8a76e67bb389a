// Chooses the proxy through which a server is asked, according to the environment:
//   http://    http_proxy (HTTP_PROXY is not read: a CGI program's callers can set it)
//   https://   https_proxy, HTTPS_PROXY
//   both       all_proxy, ALL_PROXY, if that is not set
//   none       for the hosts of no_proxy, NO_PROXY: "*", or a list such as
//              "example.org, .example.org, example.org:8080, 10.0.0.0/8, 192.168.1.7"; a name
//              includes the host and all its subdomains
// A server on this machine (localhost, 127.0.0.0/8, ::1, a Unix socket) is never asked through one.
#pragma once

#include <optional>
#include <string>

#include "http/base/url.hpp"

namespace krl::http {

struct Proxies {
  std::string http, https;  // URLs of proxies; empty: none
  std::string exceptions;   // in the format of no_proxy

  static Proxies of_environment();
  static Proxies none() { return {}; }

  // Throws krl::Failure(KRL_INVALID_ARGUMENT) if the proxy is of an unsupported kind, or its URL is
  // invalid: we speak HTTP to a proxy, neither SOCKS nor TLS.
  std::optional<Url> proxy_for(const Url& server) const;
};

}  // namespace krl::http
