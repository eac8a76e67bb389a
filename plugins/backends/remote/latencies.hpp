// How long the latest evaluations took, to tell when one is late. One thread at a time.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "http/base/patience.hpp"

namespace krl::remote {

class Latencies {
 public:
  static constexpr std::size_t kKept = 256;   // the latest
  static constexpr std::size_t kFewest = 32;  // before them nothing is late

  void add(http::Duration time);
  // The time that 95 % of them did not exceed; none while there are fewer than kFewest.
  std::optional<http::Duration> percentile95() const;

 private:
  std::vector<http::Duration> latest_;
  std::size_t next_ = 0;
};

}  // namespace krl::remote
