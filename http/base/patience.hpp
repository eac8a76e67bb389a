// How long a caller waits, and how it is cancelled.
#pragma once

#include <chrono>
#include <functional>
#include <utility>

namespace krl::http {

using Duration = std::chrono::steady_clock::duration;

struct Patience {
  using Clock = std::chrono::steady_clock;

  Clock::time_point deadline;
  std::function<bool()> cancelled;  // asked every kCancelPoll, from any thread; may be empty

  static Patience of(Duration limit, std::function<bool()> cancelled = {}) {
    return {Clock::now() + limit, std::move(cancelled)};
  }
};

inline constexpr std::chrono::milliseconds kCancelPoll{20};

}  // namespace krl::http
