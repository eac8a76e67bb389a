// One server of a fleet: its address, what it says of itself, its health and its load. Used on the
// loop's thread; the coroutines that ask it share it, so that it may leave the fleet meanwhile.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "http/client/client.hpp"
#include "plugins/backends/remote/messages.hpp"
#include "plugins/backends/remote/settings.hpp"

namespace krl::remote {

using http::Patience;
using http::Yield;
using Clock = Patience::Clock;

class Member {
 public:
  Member(boost::asio::io_context& io, const std::string& url, const http::Options& options);

  const std::string& name() const { return name_; }  // its URL without secrets

  // Each throws krl::Failure, whose message names the server.
  ServerInfo ask_info(const Patience& patience, Yield yield);
  // Any status is an answer. A task that the server knows by `digest` is not sent; empty: none is.
  http::Answer evaluate(const Wanted& wanted, const std::string& digest, const Patience& patience,
                        Yield yield);

  // "http://…: status 503: the server's words", freed of secrets.
  std::string complaint(const http::Answer& answer) const;

  std::optional<ServerInfo> info;  // none: it must be asked before it judges
  unsigned in_flight = 0;

  // It failed, or is busy, and is left alone until then.
  Clock::time_point paused_until{};
  unsigned failures = 0;  // in a row
  std::string trouble;    // the latest; empty: none
  std::string misfit;     // why a person must act; empty: no need

 private:
  std::string name_;
  http::Client client_;
};
using MemberPointer = std::shared_ptr<Member>;

}  // namespace krl::remote
