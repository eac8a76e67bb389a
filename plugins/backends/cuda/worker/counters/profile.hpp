// Hardware counters of a program on a GPU, read with CUPTI's range profiler: the program is run as
// often as the counters need passes, each time with new inputs and a cold L2, and all its launches
// form one range. Throws CuptiError, and CudaError like DeviceSession; unusable afterwards. Used by
// one thread.
#pragma once

#include <memory>
#include <vector>

#include "plugins/backends/cuda/worker/counters/cold_cache.hpp"
#include "plugins/backends/cuda/worker/counters/metric_plan.hpp"
#include "plugins/backends/cuda/worker/device_session.hpp"

namespace krl::gpu {

struct DisableRangeProfiler {
  void operator()(CUpti_RangeProfiler_Object* profiler) const;
};
using RangeProfiler = std::unique_ptr<CUpti_RangeProfiler_Object, DisableRangeProfiler>;

// Throws as Profiler does where the counters of GPU `device` cannot be read.
ProfilerReady check_counters(int device);

class Profiler {
 public:
  // Profiles GPU `device`, whose session this is; it must live longer.
  Profiler(DeviceSession& session, int device);

  ProfilerReady ready() const;
  // REQUIRES: the program's module is loaded into the session.
  std::vector<Counter> profile(const Run& run);

 private:
  Image new_counter_data() const;
  void configure(Image* counted);
  // One pass. True if it was the last.
  bool pass(const Run& run);
  void count(const Run& run);
  void decode(const Image& counted);

  DeviceSession& session_;
  ColdCache cache_;
  const std::string chip_;
  const MetricPlan plan_;
  const RangeProfiler profiler_;
};

}  // namespace krl::gpu
