// Means, deviations and what counts as fast, in double precision.
#pragma once

#include <cmath>
#include <numeric>
#include <vector>

namespace krl {

// 0 of no values.
inline double mean_of(const std::vector<double>& values) {
  if (values.empty()) return 0;
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

// The standard deviation of a sample, with n − 1; 0 of fewer than two values.
inline double deviation_of(const std::vector<double>& values) {
  if (values.size() < 2) return 0;
  const double mean = mean_of(values);
  double squares = 0;
  for (const double v : values) squares += (v - mean) * (v - mean);
  return std::sqrt(squares / static_cast<double>(values.size() - 1));
}

// Whether a correct kernel counts for fast_p: more than p times as fast as the baseline
// (KernelBench, Ouyang et al., arXiv 2502.10517). A time as good as the baseline's is not faster
// than it.
inline bool is_fast(double speedup, double p) { return speedup > p; }

}  // namespace krl
