#include "serve/judging/alarms.hpp"

#include <boost/asio/post.hpp>

namespace krl::serve {

Alarms::Alarms() : thread_([this] { io_->run(); }) {}
Alarms::~Alarms() { stop(); }

// On the alarms' thread: no other may touch a timer.
void Alarms::Forget::operator()(boost::asio::steady_timer* timer) const {
  boost::asio::post(*io, [owned = std::unique_ptr<boost::asio::steady_timer>(timer)] {});
}

Alarms::Alarm Alarms::set(Clock::time_point time, std::function<void()> ring) {
  Alarm alarm(new boost::asio::steady_timer(*io_, time), Forget{io_});
  alarm->async_wait([ring = std::move(ring)](const boost::system::error_code& error) {
    if (!error) ring();
  });
  return alarm;
}

void Alarms::at(Clock::time_point time, std::function<void()> ring) {
  const auto timer = std::make_shared<boost::asio::steady_timer>(*io_, time);
  timer->async_wait([timer, ring = std::move(ring)](const boost::system::error_code& error) {
    if (!error) ring();
  });
}

void Alarms::stop() {
  io_->stop();
  if (thread_.joinable()) thread_.join();
}

}  // namespace krl::serve
