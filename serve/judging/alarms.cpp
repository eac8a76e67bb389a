#include "serve/judging/alarms.hpp"

#include <boost/asio/steady_timer.hpp>
#include <memory>

namespace krl::serve {

Alarms::Alarms() : thread_([this] { io_.run(); }) {}
Alarms::~Alarms() { stop(); }

void Alarms::at(Clock::time_point time, std::function<void()> ring) {
  const auto timer = std::make_shared<boost::asio::steady_timer>(io_, time);
  timer->async_wait([timer, ring = std::move(ring)](const boost::system::error_code& error) {
    if (!error) ring();
  });
}

void Alarms::stop() {
  io_.stop();
  if (thread_.joinable()) thread_.join();
}

}  // namespace krl::serve
