#include "http/client/addresses.hpp"

#include <thread>

namespace krl::http {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;

constexpr std::chrono::milliseconds kPoll{2};

template <class Future>
bool is_ready(const Future& future) {
  return future.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
}

}  // namespace

bool Addresses::must_look_up() const {
  if (!found_.valid()) return true;
  if (!is_ready(found_)) return false;
  const Found& found = found_.get();
  return !found.error.empty() || Patience::Clock::now() >= found.since + kFresh;
}

Addresses::Endpoints Addresses::find(Limits& limits, Yield yield) {
  boost::system::error_code is_name;
  const auto address = asio::ip::make_address(host_, is_name);
  if (!is_name) return {tcp::endpoint(address, port_)};

  const auto fail = [&](const std::string& why) {
    throw Trouble{Cause::kAddress, limits.phase(), "no address for " + host_ + " (" + why + ")"};
  };
  if (must_look_up()) {
    std::packaged_task<Found()> look_up([host = host_, port = port_]() -> Found {
      asio::io_context io;
      boost::system::error_code error;
      const auto found = tcp::resolver(io).resolve(host, std::to_string(port), error);
      return {{found.begin(), found.end()}, error ? error.message() : "", Patience::Clock::now()};
    });
    found_ = look_up.get_future().share();
    try {
      std::thread(std::move(look_up)).detach();
    } catch (const std::system_error& error) {  // no more threads
      found_ = {};
      fail(error.what());
    }
  }
  const std::shared_future<Found> found = found_;
  while (!is_ready(found)) Signal(io_, Patience::Clock::now() + kPoll).wait(limits, yield);
  if (!found.get().error.empty()) fail(found.get().error);
  return found.get().endpoints;
}

}  // namespace krl::http
