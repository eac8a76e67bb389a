#include "http/client/backoff.hpp"

#include <locale.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <string>

namespace krl::http {
namespace {

// Parses the three formats of RFC 9110, 5.6.7; nothing for any other text.
std::optional<std::time_t> http_date(const std::string& text) {
  static const locale_t kEnglish = ::newlocale(LC_ALL_MASK, "C", nullptr);
  for (const char* format :
       {"%a, %d %b %Y %H:%M:%S GMT", "%A, %d-%b-%y %H:%M:%S GMT", "%a %b %d %H:%M:%S %Y"}) {
    std::tm time{};
    const char* const end = ::strptime_l(text.c_str(), format, &time, kEnglish);
    if (end == text.c_str() + text.size()) return ::timegm(&time);
  }
  return std::nullopt;
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
  const auto date = http_date(std::string(header));
  if (!date) return std::nullopt;
  return std::chrono::seconds(std::clamp<std::time_t>(*date - now, 0, UINT32_MAX));
}

}  // namespace krl::http
