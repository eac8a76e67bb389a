#include "plugins/backends/cuda/gpu/ncu/ncu_metrics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "plugins/backends/cuda/worker/counters/metrics.hpp"

namespace krl::cuda {
namespace {

constexpr std::size_t kShownStalls = 3;
constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

constexpr gpu::Metric kThroughputs[] = {
    {"compute_throughput", "", "sm__throughput.avg.pct_of_peak_sustained_elapsed", 0.01,
     "gpu__time_duration.sum"},
    {"memory_throughput", "", "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed",
     0.01, "gpu__time_duration.sum"},
    {"dram_throughput", "", "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed", 0.01,
     "gpu__time_duration.sum"},
};

// Each a separate metric: warps in that state, on average, when an instruction was issued. With
// kIssued they are all states that a warp can be in. A chip may lack some.
constexpr const char* kStalls[] = {"barrier",
                                   "branch_resolving",
                                   "dispatch_stall",
                                   "drain",
                                   "gmma",
                                   "imc_miss",
                                   "lg_throttle",
                                   "long_scoreboard",
                                   "math_pipe_throttle",
                                   "membar",
                                   "mio_throttle",
                                   "misc",
                                   "no_instruction",
                                   "not_selected",
                                   "short_scoreboard",
                                   "sleeping",
                                   "tex_throttle",
                                   "wait"};
constexpr char kIssued[] = "selected";
constexpr char kPerIssue[] = "smsp__issue_active.sum";

std::string stall_metric(const std::string& reason) {
  return "smsp__average_warps_issue_stalled_" + reason + "_per_issue_active.ratio";
}

double value_of(const NcuLaunch& launch, const std::string& metric) {
  const auto found = launch.metrics.find(metric);
  return found == launch.metrics.end() ? kNone : found->second;
}

// NaN if a launch lacks it, or where there is no weight.
double total(const std::vector<NcuLaunch>& launches, const std::string& metric,
             const char* weight) {
  if (launches.size() == 1) return value_of(launches.front(), metric);
  double sum = 0, weights = 0;
  for (const NcuLaunch& launch : launches) {
    const double of_launch = weight == nullptr ? 1 : value_of(launch, weight);
    if (of_launch == 0) continue;  // a rate of nothing need not have a value
    sum += of_launch * value_of(launch, metric);
    weights += of_launch;
  }
  return weight == nullptr ? sum : sum / weights;
}

void add_stalls(const std::vector<NcuLaunch>& launches, std::vector<gpu::Counter>* counters) {
  double all = total(launches, stall_metric(kIssued), kPerIssue);
  std::vector<gpu::Counter> stalls;
  for (const char* reason : kStalls) {
    const double warps = total(launches, stall_metric(reason), kPerIssue);
    if (!(warps > 0)) continue;
    all += warps;
    stalls.push_back({std::string("stall_") + reason, "", warps});
  }
  if (!std::isfinite(all)) return;
  std::stable_sort(stalls.begin(), stalls.end(),
                   [](const gpu::Counter& a, const gpu::Counter& b) { return a.value > b.value; });
  if (stalls.size() > kShownStalls) stalls.resize(kShownStalls);
  for (gpu::Counter& stall : stalls) {
    stall.value /= all;
    counters->push_back(std::move(stall));
  }
}

}  // namespace

std::vector<std::string> ncu_metrics() {
  std::set<std::string> names = {stall_metric(kIssued), kPerIssue};
  const auto add = [&](const gpu::Metric& metric) {
    names.insert(metric.cupti);
    if (metric.weight != nullptr) names.insert(metric.weight);
  };
  for (const gpu::Metric& metric : gpu::kMetrics) add(metric);
  for (const gpu::Metric& metric : kThroughputs) add(metric);
  for (const char* reason : kStalls) names.insert(stall_metric(reason));
  return {names.begin(), names.end()};
}

std::vector<gpu::Counter> counters_of_launches(const std::vector<NcuLaunch>& launches) {
  std::vector<const gpu::Metric*> metrics;
  std::vector<double> raw;
  const auto add = [&](const gpu::Metric& metric) {
    metrics.push_back(&metric);
    raw.push_back(total(launches, metric.cupti, metric.weight));
  };
  for (const gpu::Metric& metric : gpu::kMetrics) add(metric);
  for (const gpu::Metric& metric : kThroughputs) add(metric);
  std::vector<gpu::Counter> counters = gpu::counters_of(metrics, raw);
  add_stalls(launches, &counters);
  return counters;
}

}  // namespace krl::cuda
