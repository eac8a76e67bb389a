// A libcupti.so.13 for simulated GPUs. By $SIMULATED_CUPTI: "" counts, in two passes, the same of
// every program; "refuses" as a driver does that keeps counters for administrators.
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>

#include <cstdlib>
#include <string_view>

struct CUpti_Profiler_Host_Object {};
struct CUpti_RangeProfiler_Object {};

namespace {

constexpr std::size_t kImageBytes = 16, kPasses = 2;

CUpti_Profiler_Host_Object host;
CUpti_RangeProfiler_Object profiler;
bool started = false, in_range = false;
std::size_t passes = 0;

bool refuses() {
  const char* mode = std::getenv("SIMULATED_CUPTI");
  return mode != nullptr && std::string_view(mode) == "refuses";
}

double counted(std::string_view metric) {
  if (metric.find("_requests_") != metric.npos) return 10;
  if (metric.find("_sectors_") != metric.npos) return 45;
  if (metric == "smsp__inst_executed.sum") return 2;
  if (metric == "smsp__thread_inst_executed.sum") return 48;
  if (metric == "dram__bytes.sum") return 1024;
  return 25;
}

CUptiResult in_order(bool right) { return right ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_OPERATION; }

}  // namespace

extern "C" {

CUptiResult cuptiGetResultString(CUptiResult code, const char** text) {
  *text = code == CUPTI_ERROR_INSUFFICIENT_PRIVILEGES ? "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES"
                                                      : "CUPTI_ERROR_OTHER";
  return CUPTI_SUCCESS;
}
CUptiResult cuptiProfilerInitialize(CUpti_Profiler_Initialize_Params*) { return CUPTI_SUCCESS; }
CUptiResult cuptiDeviceGetChipName(CUpti_Device_GetChipName_Params* chip) {
  return chip->pChipName = "SIM100", CUPTI_SUCCESS;
}
CUptiResult cuptiProfilerGetCounterAvailability(CUpti_Profiler_GetCounterAvailability_Params* all) {
  return all->counterAvailabilityImageSize = kImageBytes, CUPTI_SUCCESS;
}

CUptiResult cuptiProfilerHostInitialize(CUpti_Profiler_Host_Initialize_Params* start) {
  return start->pHostObject = &host, CUPTI_SUCCESS;
}
CUptiResult cuptiProfilerHostDeinitialize(CUpti_Profiler_Host_Deinitialize_Params*) {
  return CUPTI_SUCCESS;
}
// A chip without tensor cores.
CUptiResult cuptiProfilerHostGetMetricProperties(
    CUpti_Profiler_Host_GetMetricProperties_Params* metric) {
  const bool tensor =
      std::string_view(metric->pMetricName).find("tensor") != std::string_view::npos;
  return tensor ? CUPTI_ERROR_INVALID_METRIC_NAME : CUPTI_SUCCESS;
}
CUptiResult cuptiProfilerHostConfigAddMetrics(CUpti_Profiler_Host_ConfigAddMetrics_Params*) {
  return CUPTI_SUCCESS;
}
CUptiResult cuptiProfilerHostGetConfigImageSize(
    CUpti_Profiler_Host_GetConfigImageSize_Params* image) {
  return image->configImageSize = kImageBytes, CUPTI_SUCCESS;
}
CUptiResult cuptiProfilerHostGetConfigImage(CUpti_Profiler_Host_GetConfigImage_Params*) {
  return CUPTI_SUCCESS;
}
CUptiResult cuptiProfilerHostGetNumOfPasses(CUpti_Profiler_Host_GetNumOfPasses_Params* number) {
  return number->numOfPasses = kPasses, CUPTI_SUCCESS;
}
CUptiResult cuptiProfilerHostEvaluateToGpuValues(
    CUpti_Profiler_Host_EvaluateToGpuValues_Params* values) {
  for (std::size_t i = 0; i < values->numMetrics; ++i) {
    values->pMetricValues[i] = counted(values->ppMetricNames[i]);
  }
  return CUPTI_SUCCESS;
}

CUptiResult cuptiRangeProfilerEnable(CUpti_RangeProfiler_Enable_Params* enable) {
  if (refuses()) return CUPTI_ERROR_INSUFFICIENT_PRIVILEGES;
  return enable->pRangeProfilerObject = &profiler, CUPTI_SUCCESS;
}
CUptiResult cuptiRangeProfilerDisable(CUpti_RangeProfiler_Disable_Params*) { return CUPTI_SUCCESS; }
CUptiResult cuptiRangeProfilerGetCounterDataSize(
    CUpti_RangeProfiler_GetCounterDataSize_Params* size) {
  return size->counterDataSize = kImageBytes, CUPTI_SUCCESS;
}
CUptiResult cuptiRangeProfilerCounterDataImageInitialize(
    CUpti_RangeProfiler_CounterDataImage_Initialize_Params*) {
  return CUPTI_SUCCESS;
}
CUptiResult cuptiRangeProfilerSetConfig(CUpti_RangeProfiler_SetConfig_Params*) {
  return passes = 0, CUPTI_SUCCESS;
}
CUptiResult cuptiRangeProfilerStart(CUpti_RangeProfiler_Start_Params*) {
  const CUptiResult result = in_order(!started && passes < kPasses);
  return started = true, result;
}
CUptiResult cuptiRangeProfilerPushRange(CUpti_RangeProfiler_PushRange_Params*) {
  const CUptiResult result = in_order(started && !in_range);
  return in_range = true, result;
}
CUptiResult cuptiRangeProfilerPopRange(CUpti_RangeProfiler_PopRange_Params*) {
  const CUptiResult result = in_order(in_range);
  return in_range = false, result;
}
CUptiResult cuptiRangeProfilerStop(CUpti_RangeProfiler_Stop_Params* stop) {
  const CUptiResult result = in_order(started && !in_range);
  stop->isAllPassSubmitted = ++passes == kPasses ? 1 : 0;
  return started = false, result;
}
CUptiResult cuptiRangeProfilerDecodeData(CUpti_RangeProfiler_DecodeData_Params*) {
  return in_order(passes == kPasses);
}
CUptiResult cuptiRangeProfilerGetCounterDataInfo(
    CUpti_RangeProfiler_GetCounterDataInfo_Params* info) {
  return info->numTotalRanges = 1, CUPTI_SUCCESS;
}

}  // extern "C"
