// Reads the counters of one chip: CUPTI's host part converts metrics into a configuration of the
// hardware, and the hardware's counts into values. Needs no GPU. Throws CuptiError.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "plugins/backends/cuda/worker/counters/cupti.hpp"
#include "plugins/backends/cuda/worker/counters/metrics.hpp"

namespace krl::gpu {

using Image = std::vector<std::uint8_t>;  // CUPTI's own format

class MetricPlan {
 public:
  // All of kMetrics that `chip` ("GH100") has. `availability`: which counters the GPU lets be used;
  // empty = all.
  explicit MetricPlan(const std::string& chip, const Image& availability = {});

  const std::vector<const Metric*>& metrics() const { return metrics_; }
  // Returns the names in the order of metrics(), as CUPTI takes them.
  const std::vector<const char*>& names() const { return names_; }
  const Image& configuration() const { return configuration_; }
  // Returns those metrics that the chip does not have.
  std::vector<std::string> lacking(const std::vector<std::string>& metrics) const;
  std::size_t passes() const { return passes_; }  // runs that all metrics take

  // The counts of the first range of a counter data image.
  std::vector<Counter> evaluate(const Image& counted) const;

 private:
  void choose_metrics();
  void configure();

  struct End {
    void operator()(CUpti_Profiler_Host_Object* host) const;
  };
  std::unique_ptr<CUpti_Profiler_Host_Object, End> host_;
  std::vector<const Metric*> metrics_;
  std::vector<const char*> names_;
  Image configuration_;
  std::size_t passes_ = 0;
};

}  // namespace krl::gpu
