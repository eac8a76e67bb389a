// When to retry. Pure.
#pragma once

#include <ctime>
#include <optional>
#include <string_view>

#include "http/client/options.hpp"

namespace krl::http {

// The wait before try 1, 2, …: `uniform` in [0, 1) of first · 2^(try - 1), of `longest` at most
// ("full jitter"), so that clients that failed together do not come back together.
Duration backoff(const Retries& retries, unsigned which_try, double uniform);

// Parses a Retry-After header: seconds, or a date of HTTP (three formats), which is compared with
// `now`. Nothing if it is neither, or a date in the past.
std::optional<Duration> retry_after(std::string_view header, std::time_t now);

}  // namespace krl::http
