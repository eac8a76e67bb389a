// Ends operations that take too long or are cancelled. One timer checks all of them every
// kCancelPoll, so that a thousand requests need no thousand timers. Used by the loop's thread.
#pragma once

#include <boost/asio/steady_timer.hpp>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <utility>

#include "http/base/failure.hpp"
#include "http/base/loop.hpp"
#include "http/base/patience.hpp"

namespace krl::http {

class Limits;

// The timer of all Limits. Shared with its handler, which may run after the last of them is gone.
class Watch final : public std::enable_shared_from_this<Watch> {
 public:
  explicit Watch(boost::asio::io_context& io) : timer_(io) {}

 private:
  friend class Limits;

  void begin();

  boost::asio::steady_timer timer_;
  std::list<Limits*> under_way_;
};

// The limits of one piece of work, on its coroutine's stack: the caller's patience, and a time for
// the phase that it is in. It throws Trouble once one of them is reached.
class Limits {
 public:
  Limits(std::shared_ptr<Watch> watch, const Patience& patience);
  ~Limits();
  Limits(const Limits&) = delete;
  Limits& operator=(const Limits&) = delete;

  // Begins a phase that may take `limit`.
  void enter(Phase phase, Duration limit);
  // Restarts the phase's time.
  void progress();
  Phase phase() const { return phase_; }

  // Calls wait(), in which the coroutine waits; stop() must end that soon.
  template <class Wait>
  void during(std::function<void()> stop, const Wait& wait) {
    check();
    stop_ = std::move(stop);
    wait();
    stop_ = nullptr;
    check();
  }

 private:
  friend class Watch;

  void look(Patience::Clock::time_point now);  // from the timer
  void check() const;

  const std::shared_ptr<Watch> watch_;
  const std::list<Limits*>::iterator place_;
  const Patience& patience_;
  Phase phase_ = Phase::kSlot;
  Duration phase_limit_ = Duration::max();
  Patience::Clock::time_point phase_end_ = Patience::Clock::time_point::max();
  std::function<void()> stop_;
  std::optional<Cause> end_;  // kCancelled, kDeadline or kTimeout
};

// Lets one coroutine wait until another, or a handler of the same thread, notifies it.
class Signal {
 public:
  // Without a notice the wait ends at `end`.
  explicit Signal(boost::asio::io_context& io,
                  Patience::Clock::time_point end = Patience::Clock::time_point::max())
      : timer_(io, end) {}
  void wait(Limits& limits, Yield yield);
  void notify() { timer_.cancel(); }  // call while the other waits

 private:
  boost::asio::steady_timer timer_;
};

}  // namespace krl::http
