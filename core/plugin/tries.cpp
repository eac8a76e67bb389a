#include "core/plugin/tries.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <thread>

#include "core/base/log.hpp"

namespace krl {
namespace {

using std::chrono::duration;
using std::chrono::milliseconds;

constexpr duration<double> kLongestPause{30};
constexpr milliseconds kCheckForStop{20};

// False if the user stopped the run before it was over.
bool wait(duration<double> pause, const CallScope& scope) {
  const auto end = CallScope::Clock::now() + pause;
  while (!scope.cancelled()) {
    const auto left = end - CallScope::Clock::now();
    if (left <= left.zero()) return true;
    std::this_thread::sleep_for(std::min<duration<double>>(left, kCheckForStop));
  }
  return false;
}

}  // namespace

Status Tries::after(const Error& error) {
  if (error.code != Code::kUnavailable) return failure(error);
  if (given_up_ || repeated_ == scope_.retries.count) {
    given_up_ = true;
    return failure(error);
  }
  const double factor = std::exp2(repeated_++);
  const duration<double> pause = std::min(scope_.retries.pause * factor, kLongestPause);
  log(Severity::kWarning,
      fmt::format("{}; tried again after {:.3g} s, {} of {} times", error.message, pause.count(),
                  repeated_, scope_.retries.count));
  if (wait(pause, scope_)) return {};
  return failure(Code::kCancelled, "cancelled");
}

void Tries::succeeded() {
  given_up_ = false;
  repeated_ = 0;
}

}  // namespace krl
