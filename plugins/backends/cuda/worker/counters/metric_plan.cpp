#include "plugins/backends/cuda/worker/counters/metric_plan.hpp"

namespace krl::gpu {
namespace {

CUpti_Profiler_Host_Object* host_of(const std::string& chip, const Image& availability) {
  KRL_CUPTI_PARAMETERS(CUpti_Profiler_Host_Initialize, start);
  start.profilerType = CUPTI_PROFILER_TYPE_RANGE_PROFILER;
  start.pChipName = chip.c_str();
  start.pCounterAvailabilityImage = availability.empty() ? nullptr : availability.data();
  require(cupti().cuptiProfilerHostInitialize(&start),
          "cuptiProfilerHostInitialize for the chip " + chip);
  return start.pHostObject;
}

bool has(CUpti_Profiler_Host_Object* host, const char* metric) {
  KRL_CUPTI_PARAMETERS(CUpti_Profiler_Host_GetMetricProperties, properties);
  properties.pHostObject = host;
  properties.pMetricName = metric;
  const CUptiResult result = cupti().cuptiProfilerHostGetMetricProperties(&properties);
  if (result == CUPTI_ERROR_INVALID_METRIC_NAME) return false;
  require(result, std::string("cuptiProfilerHostGetMetricProperties of ") + metric);
  return true;
}

}  // namespace

MetricPlan::MetricPlan(const std::string& chip, const Image& availability)
    : host_(host_of(chip, availability)) {
  choose_metrics();
  configure();
}

void MetricPlan::End::operator()(CUpti_Profiler_Host_Object* host) const {
  KRL_CUPTI_PARAMETERS(CUpti_Profiler_Host_Deinitialize, end);
  end.pHostObject = host;
  cupti().cuptiProfilerHostDeinitialize(&end);
}

void MetricPlan::choose_metrics() {
  for (const Metric& metric : kMetrics) {
    if (!has(host_.get(), metric.cupti)) continue;
    metrics_.push_back(&metric);
    names_.push_back(metric.cupti);
  }
}

std::vector<std::string> MetricPlan::lacking(const std::vector<std::string>& metrics) const {
  std::vector<std::string> lacking;
  for (const std::string& metric : metrics) {
    if (!has(host_.get(), metric.c_str())) lacking.push_back(metric);
  }
  return lacking;
}

// All at once: metrics that are added apart are counted in separate passes.
void MetricPlan::configure() {
  std::vector<const char*> names = names_;
  KRL_CUPTI_PARAMETERS(CUpti_Profiler_Host_ConfigAddMetrics, add);
  add.pHostObject = host_.get();
  add.ppMetricNames = names.data();
  add.numMetrics = names.size();
  KRL_CUPTI(cuptiProfilerHostConfigAddMetrics, &add);
  KRL_CUPTI_PARAMETERS(CUpti_Profiler_Host_GetConfigImageSize, size);
  size.pHostObject = host_.get();
  KRL_CUPTI(cuptiProfilerHostGetConfigImageSize, &size);
  configuration_.resize(size.configImageSize);
  KRL_CUPTI_PARAMETERS(CUpti_Profiler_Host_GetConfigImage, image);
  image.pHostObject = host_.get();
  image.configImageSize = configuration_.size();
  image.pConfigImage = configuration_.data();
  KRL_CUPTI(cuptiProfilerHostGetConfigImage, &image);
  KRL_CUPTI_PARAMETERS(CUpti_Profiler_Host_GetNumOfPasses, passes);
  passes.configImageSize = configuration_.size();
  passes.pConfigImage = configuration_.data();
  KRL_CUPTI(cuptiProfilerHostGetNumOfPasses, &passes);
  passes_ = passes.numOfPasses;
}

std::vector<Counter> MetricPlan::evaluate(const Image& counted) const {
  std::vector<double> raw(metrics_.size());
  for (std::size_t i = 0; i < names_.size(); ++i) {
    const char* name = names_[i];
    KRL_CUPTI_PARAMETERS(CUpti_Profiler_Host_EvaluateToGpuValues, values);
    values.pHostObject = host_.get();
    values.pCounterDataImage = counted.data();
    values.counterDataImageSize = counted.size();
    values.rangeIndex = 0;
    values.ppMetricNames = &name;
    values.numMetrics = 1;
    values.pMetricValues = &raw[i];
    require(cupti().cuptiProfilerHostEvaluateToGpuValues(&values),
            std::string("cuptiProfilerHostEvaluateToGpuValues of ") + name);
  }
  return counters_of(metrics_, raw);
}

}  // namespace krl::gpu
