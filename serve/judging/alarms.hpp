// Calls functions at their times, on a thread of its own. Any thread.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <thread>

namespace krl::serve {

class Alarms {
 public:
  using Clock = std::chrono::steady_clock;

  Alarms();
  ~Alarms();
  Alarms(const Alarms&) = delete;
  Alarms& operator=(const Alarms&) = delete;

  // Rings only as long as it is kept.
  struct Forget {
    std::shared_ptr<boost::asio::io_context> io;
    void operator()(boost::asio::steady_timer* timer) const;
  };
  using Alarm = std::unique_ptr<boost::asio::steady_timer, Forget>;

  // `ring` must not block.
  [[nodiscard]] Alarm set(Clock::time_point time, std::function<void()> ring);

  // The same, kept until it has rung.
  void at(Clock::time_point time, std::function<void()> ring);

  // No function is called once this has returned. Not from one of them.
  void stop();

 private:
  const std::shared_ptr<boost::asio::io_context> io_ = std::make_shared<boost::asio::io_context>(1);
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_{
      io_->get_executor()};
  std::thread thread_;
};

}  // namespace krl::serve
