#include "plugins/backends/cuda/worker/counters/profile.hpp"

namespace krl::gpu {
namespace {

constexpr std::size_t kMostPasses = 64;  // more than CUPTI ever asks for

std::string chip_of(int device) {
  KRL_CUPTI_PARAMETERS(CUpti_Profiler_Initialize, start);
  KRL_CUPTI(cuptiProfilerInitialize, &start);
  KRL_CUPTI_PARAMETERS(CUpti_Device_GetChipName, chip);
  chip.deviceIndex = static_cast<std::size_t>(device);
  KRL_CUPTI(cuptiDeviceGetChipName, &chip);
  return chip.pChipName;
}

Image availability_in(CUcontext context) {
  KRL_CUPTI_PARAMETERS(CUpti_Profiler_GetCounterAvailability, available);
  available.ctx = context;
  require(cupti().cuptiProfilerGetCounterAvailability(&available),
          "cuptiProfilerGetCounterAvailability of its size");
  Image image(available.counterAvailabilityImageSize);
  available.pCounterAvailabilityImage = image.data();
  KRL_CUPTI(cuptiProfilerGetCounterAvailability, &available);
  return image;
}

RangeProfiler enable(CUcontext context) {
  KRL_CUPTI_PARAMETERS(CUpti_RangeProfiler_Enable, enable);
  enable.ctx = context;
  KRL_CUPTI(cuptiRangeProfilerEnable, &enable);
  return RangeProfiler(enable.pRangeProfilerObject);
}

ProfilerReady ready_with(const std::string& chip, const MetricPlan& plan) {
  return {chip, plan.passes(), {plan.names().begin(), plan.names().end()}};
}

}  // namespace

void DisableRangeProfiler::operator()(CUpti_RangeProfiler_Object* profiler) const {
  KRL_CUPTI_PARAMETERS(CUpti_RangeProfiler_Disable, disable);
  disable.pRangeProfilerObject = profiler;
  cupti().cuptiRangeProfilerDisable(&disable);
}

ProfilerReady check_counters(int index) {
  cupti();  // before there is a context, which it would miss
  CUdevice device = 0;
  CUcontext context = nullptr;
  KRL_CUDA(cuDeviceGet, &device, index);
  KRL_CUDA(cuDevicePrimaryCtxRetain, &context, device);
  KRL_CUDA(cuCtxSetCurrent, context);
  const std::string chip = chip_of(index);
  const MetricPlan plan(chip, availability_in(context));
  const RangeProfiler enabled = enable(context);
  return ready_with(chip, plan);
}

Profiler::Profiler(DeviceSession& session, int device)
    : session_(session),
      cache_(session, device),
      chip_(chip_of(device)),
      plan_(chip_, availability_in(session.context())),
      profiler_(enable(session.context())) {}

ProfilerReady Profiler::ready() const { return ready_with(chip_, plan_); }

std::vector<Counter> Profiler::profile(const Run& run) {
  Image counted = new_counter_data();
  configure(&counted);
  for (std::size_t passes = 1; !pass(run); ++passes) {
    if (passes == kMostPasses) throw std::runtime_error("CUPTI's passes do not end");
  }
  decode(counted);
  return plan_.evaluate(counted);
}

Image Profiler::new_counter_data() const {
  std::vector<const char*> names = plan_.names();
  KRL_CUPTI_PARAMETERS(CUpti_RangeProfiler_GetCounterDataSize, size);
  size.pRangeProfilerObject = profiler_.get();
  size.pMetricNames = names.data();
  size.numMetrics = names.size();
  size.maxNumOfRanges = 1;
  size.maxNumRangeTreeNodes = 1;
  KRL_CUPTI(cuptiRangeProfilerGetCounterDataSize, &size);
  Image counted(size.counterDataSize);
  KRL_CUPTI_PARAMETERS(CUpti_RangeProfiler_CounterDataImage_Initialize, start);
  start.pRangeProfilerObject = profiler_.get();
  start.counterDataSize = counted.size();
  start.pCounterData = counted.data();
  KRL_CUPTI(cuptiRangeProfilerCounterDataImageInitialize, &start);
  return counted;
}

void Profiler::configure(Image* counted) {
  KRL_CUPTI_PARAMETERS(CUpti_RangeProfiler_SetConfig, config);
  config.pRangeProfilerObject = profiler_.get();
  config.configSize = plan_.configuration().size();
  config.pConfig = plan_.configuration().data();
  config.counterDataImageSize = counted->size();
  config.pCounterDataImage = counted->data();
  config.range = CUPTI_UserRange;
  config.replayMode = CUPTI_UserReplay;
  config.maxRangesPerPass = 1;
  config.numNestingLevels = 1;
  config.minNestingLevel = 1;
  config.passIndex = 0;
  config.targetNestingLevel = 0;
  KRL_CUPTI(cuptiRangeProfilerSetConfig, &config);
}

bool Profiler::pass(const Run& run) {
  session_.stage(run);
  cache_.clear();
  KRL_CUDA(cuCtxSynchronize);
  KRL_CUPTI_PARAMETERS(CUpti_RangeProfiler_Start, start);
  start.pRangeProfilerObject = profiler_.get();
  KRL_CUPTI(cuptiRangeProfilerStart, &start);
  count(run);
  KRL_CUDA(cuCtxSynchronize);
  KRL_CUPTI_PARAMETERS(CUpti_RangeProfiler_Stop, stop);
  stop.pRangeProfilerObject = profiler_.get();
  KRL_CUPTI(cuptiRangeProfilerStop, &stop);
  return stop.isAllPassSubmitted != 0;
}

// The range ends after the last launch on the GPU; waiting inside of it would count.
void Profiler::count(const Run& run) {
  KRL_CUPTI_PARAMETERS(CUpti_RangeProfiler_PushRange, push);
  push.pRangeProfilerObject = profiler_.get();
  push.pRangeName = "program";
  KRL_CUPTI(cuptiRangeProfilerPushRange, &push);
  session_.start(run);
  KRL_CUPTI_PARAMETERS(CUpti_RangeProfiler_PopRange, pop);
  pop.pRangeProfilerObject = profiler_.get();
  KRL_CUPTI(cuptiRangeProfilerPopRange, &pop);
}

void Profiler::decode(const Image& counted) {
  KRL_CUPTI_PARAMETERS(CUpti_RangeProfiler_DecodeData, decode);
  decode.pRangeProfilerObject = profiler_.get();
  KRL_CUPTI(cuptiRangeProfilerDecodeData, &decode);
  KRL_CUPTI_PARAMETERS(CUpti_RangeProfiler_GetCounterDataInfo, info);
  info.pCounterDataImage = counted.data();
  info.counterDataImageSize = counted.size();
  KRL_CUPTI(cuptiRangeProfilerGetCounterDataInfo, &info);
  if (info.numTotalRanges == 1 && decode.numOfRangeDropped == 0) return;
  throw std::runtime_error("CUPTI counted " + std::to_string(info.numTotalRanges) + " ranges and " +
                           std::to_string(decode.numOfRangeDropped) + " dropped ones, not one");
}

}  // namespace krl::gpu
