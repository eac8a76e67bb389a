// The addresses of a host. Names are looked up in a separate thread, because the system's look-up
// cannot be cancelled; no one has to wait for it. Coroutines that look up the same name share one
// look-up, whose result is reused for kFresh. Used by the loop's thread.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <cstdint>
#include <future>
#include <string>
#include <vector>

#include "http/base/watch.hpp"

namespace krl::http {

class Addresses {
 public:
  using Endpoints = std::vector<boost::asio::ip::tcp::endpoint>;  // in the order to be tried
  static constexpr std::chrono::seconds kFresh{10};

  Addresses(boost::asio::io_context& io, std::string host, std::uint16_t port)
      : io_(io), host_(std::move(host)), port_(port) {}

  // Throws Trouble (kAddress), or that of the limits.
  Endpoints find(Limits& limits, Yield yield);

 private:
  struct Found {
    Endpoints endpoints;
    std::string error;  // message of the system; empty: there are endpoints
    Patience::Clock::time_point since;
  };

  bool must_look_up() const;

  boost::asio::io_context& io_;
  const std::string host_;
  const std::uint16_t port_;
  std::shared_future<Found> found_;  // by the last look-up, which may be in progress
};

}  // namespace krl::http
