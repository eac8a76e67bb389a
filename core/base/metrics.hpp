// Figures by name, as plugins report them for a call and iterations show them; and their means and
// deviations, in double precision.
#pragma once

#include <cmath>
#include <map>
#include <numeric>
#include <string>
#include <vector>

namespace krl::core {

using Metrics = std::map<std::string, double>;

// The metrics of reinforcement that the conditions of a plan may name, each declared by the code
// that writes it (declared_metrics in core/learn).
struct MetricNames {
  std::vector<std::string> of_iterations;  // "actor/loss": by their full names
  // "pass_rate": of a set of kernels, written as kernel/…, turn_N/…, tier_N/… and holdout/…
  std::vector<std::string> of_kernels;
  std::vector<std::string> of_episodes;  // the same of a set of episodes, without turn_N/…
  std::vector<std::string> families;     // "task/": names that begin so are of one kind
};

// Adds `value` to the figure of that name; of a name that ends in "_max" the larger one stays.
inline void merge_metric(Metrics& metrics, const std::string& name, double value) {
  const auto [entry, is_new] = metrics.try_emplace(name, value);
  if (is_new) return;
  if (!name.ends_with("_max")) {
    entry->second += value;
  } else if (value > entry->second) {
    entry->second = value;
  }
}

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

}  // namespace krl::core
