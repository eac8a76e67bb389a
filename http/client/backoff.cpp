#include "http/client/backoff.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>

namespace krl::http {
namespace {

constexpr std::array<std::string_view, 12> kMonths = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                      "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};

// Parses the three formats of RFC 9110, 5.6.7; -1 for any other text.
std::time_t http_date(const std::string& text) {
  std::tm time{};
  char month[4] = {};
  int length = 0;
  const auto whole = [&](int fields) {
    return fields == 6 && length == static_cast<int>(text.size());
  };
  const bool usual =
      whole(std::sscanf(text.c_str(), "%*3[A-Za-z], %2d %3s %4d %2d:%2d:%2d GMT%n", &time.tm_mday,
                        month, &time.tm_year, &time.tm_hour, &time.tm_min, &time.tm_sec, &length));
  const bool old =
      !usual && whole(std::sscanf(text.c_str(), "%*9[A-Za-z], %2d-%3[A-Za-z]-%2d %2d:%2d:%2d GMT%n",
                                  &time.tm_mday, month, &time.tm_year, &time.tm_hour, &time.tm_min,
                                  &time.tm_sec, &length));
  const bool of_c =
      !usual && !old &&
      whole(std::sscanf(text.c_str(), "%*3[A-Za-z] %3s %2d %2d:%2d:%2d %4d%n", month, &time.tm_mday,
                        &time.tm_hour, &time.tm_min, &time.tm_sec, &time.tm_year, &length));
  if (!usual && !old && !of_c) return -1;
  const auto found = std::find(kMonths.begin(), kMonths.end(), std::string_view(month));
  if (found == kMonths.end()) return -1;
  time.tm_mon = static_cast<int>(found - kMonths.begin());
  if (old) time.tm_year += time.tm_year < 70 ? 2000 : 1900;
  time.tm_year -= 1900;
  return ::timegm(&time);
}

}  // namespace

Duration backoff(const Retries& retries, unsigned which_try, double uniform) {
  using Seconds = std::chrono::duration<double>;
  const Seconds grown = Seconds(retries.first) * std::exp2(static_cast<int>(which_try) - 1);
  return std::chrono::duration_cast<Duration>(uniform * std::min(grown, Seconds(retries.longest)));
}

std::optional<Duration> retry_after(std::string_view header, std::time_t now) {
  const char* const end = header.data() + header.size();
  std::uint32_t seconds = 0;
  const auto read = std::from_chars(header.data(), end, seconds);
  if (read.ptr == end && !header.empty()) {
    const bool too_large = read.ec == std::errc::result_out_of_range;
    return std::chrono::seconds(too_large ? UINT32_MAX : seconds);
  }
  const std::time_t date = http_date(std::string(header));
  if (date == -1) return std::nullopt;
  return std::chrono::seconds(std::clamp<std::time_t>(date - now, 0, UINT32_MAX));
}

}  // namespace krl::http
