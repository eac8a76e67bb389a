// How long a caller waits for Docker, and who may tell it to stop before.
#pragma once

#include <chrono>
#include <functional>
#include <utility>

namespace krl::docker {

struct Patience {
  using Clock = std::chrono::steady_clock;

  Clock::time_point deadline;
  std::function<bool()> cancelled;  // asked every kCancelPoll; may be empty

  static Patience of(Clock::duration limit, std::function<bool()> cancelled = {}) {
    return {Clock::now() + limit, std::move(cancelled)};
  }
};

inline constexpr std::chrono::milliseconds kCancelPoll{20};

}  // namespace krl::docker
