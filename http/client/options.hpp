// The options of a client. The defaults suit a language model's server.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "http/base/message.hpp"
#include "http/base/patience.hpp"
#include "http/client/proxies.hpp"

namespace krl::http {

// A limit for each phase of an exchange, kept to within kCancelPoll. Duration::max() means no
// limit.
struct Timeouts {
  Duration connect = std::chrono::seconds(10);     // each: address, connection, a proxy's consent
  Duration handshake = std::chrono::seconds(10);   // TLS
  Duration send = std::chrono::seconds(30);        // until the server takes more bytes
  Duration first_byte = std::chrono::minutes(10);  // wait for the answer, once the request is sent
  Duration idle = std::chrono::minutes(1);         // between bytes of the answer

  // For a caller whose patience is the only limit.
  static constexpr Timeouts none() {
    constexpr Duration kNone = Duration::max();
    return {kNone, kNone, kNone, kNone, kNone};
  }
};

// How often and when a request is tried again; see backoff.hpp.
struct Retries {
  unsigned most = 8;  // tries after the first
  Duration first = std::chrono::milliseconds(500);
  Duration longest = std::chrono::seconds(30);
};

struct Options {
  Timeouts timeouts;
  Retries retries;
  unsigned max_in_flight = 256;                   // more wait for their turn, in order
  std::size_t max_head = std::size_t{64} << 10;   // bytes of an answer's status and headers
  std::size_t max_body = std::size_t{64} << 20;   // bytes of an answer's body
  Duration keep_idle = std::chrono::seconds(30);  // an unused connection is kept so long
  std::vector<Header> secret_headers;             // sent with every request, never shown
  std::string ca_file;                            // PEM; empty: the system's
  Proxies proxies = Proxies::of_environment();
  // Told of each failure after which ask_until_served() tries again, for a log. May be empty.
  std::function<void(const std::string& what)> on_retry;
};

}  // namespace krl::http
