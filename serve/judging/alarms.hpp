// Calls functions at their times, on a thread of its own. Any thread.
#pragma once

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <functional>
#include <thread>

namespace krl::serve {

class Alarms {
 public:
  using Clock = std::chrono::steady_clock;

  Alarms();
  ~Alarms();
  Alarms(const Alarms&) = delete;
  Alarms& operator=(const Alarms&) = delete;

  // `ring` must not block.
  void at(Clock::time_point time, std::function<void()> ring);

  // No function is called once this has returned. Not from one of them.
  void stop();

 private:
  boost::asio::io_context io_{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_{
      io_.get_executor()};
  std::thread thread_;
};

}  // namespace krl::serve
