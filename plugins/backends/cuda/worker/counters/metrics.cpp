#include "plugins/backends/cuda/worker/counters/metrics.hpp"

#include <algorithm>
#include <cmath>

namespace krl::gpu {
namespace {

constexpr double kWarpThreads = 32;

// Sum of the counters with these names.
double sum_of(const std::vector<Counter>& counters, std::initializer_list<std::string_view> names) {
  double sum = 0;
  for (const Counter& counter : counters) {
    if (std::find(names.begin(), names.end(), counter.name) != names.end()) sum += counter.value;
  }
  return sum;
}

void add_ratio(const char* name, double part, double whole, std::vector<Counter>* counters) {
  if (whole > 0) counters->push_back({name, "", part / whole});
}

}  // namespace

std::vector<Counter> counters_of(const std::vector<const Metric*>& metrics,
                                 const std::vector<double>& raw) {
  std::vector<Counter> counters;
  for (std::size_t i = 0; i < metrics.size(); ++i) {
    // CUPTI returns no number for a rate of nothing: a hit rate without look-ups.
    if (!std::isfinite(raw[i])) continue;
    const Metric& metric = *metrics[i];
    counters.push_back({std::string(metric.name), std::string(metric.unit), metric.scale * raw[i]});
  }
  add_ratio("sectors_per_request",
            sum_of(counters, {"global_load_sectors", "global_store_sectors"}),
            sum_of(counters, {"global_load_requests", "global_store_requests"}), &counters);
  add_ratio("warp_efficiency", sum_of(counters, {"thread_instructions"}),
            kWarpThreads * sum_of(counters, {"instructions"}), &counters);
  add_ratio("bank_conflicts_per_request", sum_of(counters, {"bank_conflicts"}),
            sum_of(counters, {"shared_load_requests", "shared_store_requests"}), &counters);
  return counters;
}

}  // namespace krl::gpu
