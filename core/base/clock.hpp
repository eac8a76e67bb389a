// The time of day, for records and file names. Intervals are measured with
// std::chrono::steady_clock, never with this.
#pragma once

#include <string>

namespace krl {

// Seconds since 1970 (UTC), with fractions.
double unix_seconds();

// "2026-03-01T12:34:56Z"
std::string iso_time(double unix_seconds);

}  // namespace krl
