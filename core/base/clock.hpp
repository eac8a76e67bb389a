// The time of day, for records and file names; and intervals, which are measured by another clock.
#pragma once

#include <chrono>
#include <string>

namespace krl {

// Seconds since 1970 (UTC), with fractions.
double unix_seconds();

// "2026-03-01T12:34:56Z"
std::string iso_time(double unix_seconds);

// How long ago it was made.
class Stopwatch {
 public:
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  }

 private:
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

}  // namespace krl
