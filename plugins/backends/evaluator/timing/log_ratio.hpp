// The speedup of a candidate over its baseline, from paired samples of their times, with its
// confidence interval. Pure.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace krl::evaluator {

// Estimates x = ln(baseline / candidate): the median, and the interval that contains the true one
// with a probability of at least 90 %, by Wilcoxon's signed ranks. The estimate is the median of
// the means of all pairs of samples, the bounds are order statistics of these means (Hodges and
// Lehmann, 1963). The only assumption is that x is symmetric about its median, and outliers have
// little effect. It needs a third fewer samples than the order statistics of the samples
// themselves, which do not even assume that.
struct LogRatio {
  double median = 0, low = 0, high = 0;

  double half_width() const { return (high - low) / 2; }
  // Widens the interval by an error that no number of these samples can reveal.
  LogRatio widened(double error) const { return {median, low - error, high + error}; }
};

// REQUIRES: as many of the one as of the other, at least 5, since fewer have no such interval; all
// above 0.
LogRatio log_ratio(std::span<const double> baseline, std::span<const double> candidate);

// The middle one, or the mean of the two in the middle. REQUIRES: not empty.
double median_of(std::vector<double> values);

}  // namespace krl::evaluator
