#include "plugins/policies/openai/waiting.hpp"

#include <algorithm>
#include <boost/asio/steady_timer.hpp>
#include <kernelrl/values.hpp>
#include <random>

namespace krl::openai {

void check_patience(const http::Patience& patience, const std::string& what) {
  if (patience.cancelled && patience.cancelled()) throw Failure(KRL_CANCELLED, "cancelled");
  if (http::Patience::Clock::now() < patience.deadline) return;
  throw Failure(KRL_DEADLINE_EXCEEDED, "timed out: " + what);
}

void wait(boost::asio::io_context& io, http::Duration time, const http::Patience& patience,
          const std::string& what, http::Yield yield) {
  using Clock = http::Patience::Clock;
  const Clock::time_point until = Clock::now() + time;
  if (until > patience.deadline) throw Failure(KRL_DEADLINE_EXCEEDED, "timed out: " + what);
  for (auto left = time; left > http::Duration(0); left = until - Clock::now()) {
    check_patience(patience, what);
    boost::asio::steady_timer timer(io, std::min<http::Duration>(left, http::kCancelPoll));
    timer.async_wait(yield);
  }
}

double jitter() {
  thread_local std::minstd_rand random(std::random_device{}());
  return std::uniform_real_distribution<double>()(random);
}

}  // namespace krl::openai
