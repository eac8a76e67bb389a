#include "core/base/clock.hpp"

#include <fmt/chrono.h>

#include <chrono>
#include <ctime>

namespace krl {

double unix_seconds() {
  const auto since = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration<double>(since).count();
}

std::string iso_time(double unix_seconds) {
  const auto seconds = static_cast<std::time_t>(unix_seconds);
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(seconds));
}

}  // namespace krl
