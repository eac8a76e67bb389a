// The time of day, for records and file names; and intervals, which are measured by another clock.
#pragma once

#include <chrono>
#include <ctime>
#include <string>

namespace krl::core {

// Seconds since 1970 (UTC), with fractions.
inline double unix_seconds() {
  const auto since = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration<double>(since).count();
}

// "2026-03-01T12:34:56Z"
inline std::string iso_time(double unix_seconds) {
  const auto seconds = static_cast<std::time_t>(unix_seconds);
  std::tm utc{};
  ::gmtime_r(&seconds, &utc);
  char text[sizeof "+9999-12-31T23:59:59Z"];
  return {text, std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc)};
}

// Measures the time since it was made.
class Stopwatch {
 public:
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  }

 private:
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

}  // namespace krl::core
