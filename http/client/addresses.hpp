// The addresses of a host. Names are looked up in a separate thread, because the system's look-up
// cannot be cancelled; no one has to wait for it. Coroutines that look up the same name share one
// look-up, whose result is reused for kFresh. Used by the loop's thread.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <future>
#include <string>
#include <thread>
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
  Endpoints find(Limits& limits, Yield yield) {
    boost::system::error_code is_name;
    const auto address = boost::asio::ip::make_address(host_, is_name);
    if (!is_name) return {{address, port_}};
    try {
      if (must_look_up()) look_up();
    } catch (const std::system_error& error) {  // no more threads
      found_ = {};
      fail(error.what());
    }
    const std::shared_future<Found> found = found_;
    while (!is_ready(found)) Signal(io_, Patience::Clock::now() + kPoll).wait(limits, yield);
    if (!found.get().error.empty()) fail(found.get().error);
    return found.get().endpoints;
  }

 private:
  struct Found {
    Endpoints endpoints;
    std::string error;  // message of the system; empty: there are endpoints
    Patience::Clock::time_point since;
  };
  static constexpr std::chrono::milliseconds kPoll{2};

  static bool is_ready(const std::shared_future<Found>& found) {
    return found.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
  }

  bool must_look_up() const {
    if (!found_.valid() || !is_ready(found_)) return !found_.valid();
    const Found& found = found_.get();
    return !found.error.empty() || Patience::Clock::now() >= found.since + kFresh;
  }

  void look_up() {
    std::packaged_task<Found()> task([host = host_, port = port_]() -> Found {
      boost::asio::io_context io;
      boost::system::error_code error;
      const auto found =
          boost::asio::ip::tcp::resolver(io).resolve(host, std::to_string(port), error);
      return {{found.begin(), found.end()}, error ? error.message() : "", Patience::Clock::now()};
    });
    found_ = task.get_future().share();
    std::thread(std::move(task)).detach();
  }

  [[noreturn]] void fail(const std::string& why) const {
    throw Trouble{Cause::kAddress, Phase::kConnect, "no address for " + host_ + " (" + why + ")"};
  }

  boost::asio::io_context& io_;
  const std::string host_;
  const std::uint16_t port_;
  std::shared_future<Found> found_;  // by the last look-up, which may be in progress
};

}  // namespace krl::http
