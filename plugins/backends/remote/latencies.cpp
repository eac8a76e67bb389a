#include "plugins/backends/remote/latencies.hpp"

#include <algorithm>

namespace krl::remote {

void Latencies::add(http::Duration time) {
  if (latest_.size() < kKept) {
    latest_.push_back(time);
  } else {
    latest_[next_] = time;
  }
  next_ = (next_ + 1) % kKept;
}

std::optional<http::Duration> Latencies::percentile95() const {
  if (latest_.size() < kFewest) return std::nullopt;
  std::vector<http::Duration> times = latest_;
  const auto place = times.begin() + static_cast<std::ptrdiff_t>(times.size() * 95 / 100);
  std::nth_element(times.begin(), place, times.end());
  return *place;
}

}  // namespace krl::remote
