// The address of a server: http://host:port/path, https://…, or a Unix socket,
// unix:///run/docker.sock.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace krl::http {

struct Url {
  enum Scheme { kHttp, kHttps, kUnix } scheme = kHttp;
  std::string user, password;  // percent-decoded; secrets
  std::string host;            // lower case; an IPv6 address without its brackets
  std::uint16_t port = 0;
  std::string path;  // "/v1", never with a '/' at its end; of a Unix socket: its file

  // "http://host:8000/v1", without user and password.
  std::string text() const;
  // "host", "host:8000" or "[::1]:8000"; the port only where it is not the scheme's own.
  std::string authority() const;
};

// Throws krl::Failure(KRL_INVALID_ARGUMENT), whose message shows neither user nor password.
Url parse_url(std::string_view text);

// A text as part of a path or a query, "a b" -> "a%20b".
std::string percent_encoded(std::string_view text);

}  // namespace krl::http
