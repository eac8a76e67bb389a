// How much faster a candidate is than its baseline, from paired samples of their times, and how
// sure that is. Pure.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace krl {

// Of x = ln(baseline / candidate): the median, and the interval that holds the true median with a
// probability of at least 95 %, by the order statistics of the samples: whatever their
// distribution, as long as each lies above the true median as often as below.
struct LogRatio {
  double median = 0, low = 0, high = 0;

  double half_width() const { return (high - low) / 2; }
};

// Fewer samples than this have no such interval.
inline constexpr std::size_t kFewestSamples = 6;

// REQUIRES: as many of the one as of the other, at least kFewestSamples, all above 0.
LogRatio log_ratio(std::span<const double> baseline, std::span<const double> candidate);

// The middle one, or the mean of the two in the middle. REQUIRES: not empty.
double median_of(std::vector<double> values);

}  // namespace krl
