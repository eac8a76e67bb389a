// One request and its answer on a connection, by Beast.
#pragma once

#include <string>

#include "http/base/message.hpp"
#include "http/client/requests.hpp"
#include "http/client/transport.hpp"

namespace krl::http {

struct Exchanged {
  Answer answer;
  bool is_connection_usable;  // for another exchange
  std::string rest;           // bytes after an answer after which the connection is no longer HTTP
};

// Hands the body of an answer with a status of 2xx to `on_body`, if that is not null. No body is
// read where HTTP ends: after an answer to CONNECT, of status 101, or 200 to an upgrade. Throws
// Trouble; it was closed_early() if no byte of an answer came. A failure to send is none yet: a
// server that refuses early stops reading, and its answer contains the reason.
Exchanged exchange(Transport& transport, const Message& message, const OnBody* on_body,
                   const Options& options, Limits& limits, Yield yield);

inline bool closed_early(const Trouble& trouble) {
  return trouble.cause == Cause::kBroken && trouble.phase < Phase::kBody;
}

}  // namespace krl::http
