// CUPTI's range profiler, loaded when first used: few machines have it, and fewer permit its use.
// Its host part (cuptiProfilerHost*) has the metrics of every chip and needs no GPU. Used by one
// thread of a process.
#pragma once

#include <cuda.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>

#include <stdexcept>
#include <string>

namespace krl::gpu {

// Each as CUPTI's headers declare it.
// clang-format off
#define KRL_CUPTI_FUNCTIONS(F) \
  F(cuptiGetResultString) \
  F(cuptiDeviceGetChipName) \
  F(cuptiProfilerInitialize) \
  F(cuptiProfilerGetCounterAvailability) \
  F(cuptiProfilerHostInitialize) \
  F(cuptiProfilerHostDeinitialize) \
  F(cuptiProfilerHostGetMetricProperties) \
  F(cuptiProfilerHostConfigAddMetrics) \
  F(cuptiProfilerHostGetConfigImageSize) \
  F(cuptiProfilerHostGetConfigImage) \
  F(cuptiProfilerHostGetNumOfPasses) \
  F(cuptiProfilerHostEvaluateToGpuValues) \
  F(cuptiRangeProfilerEnable) \
  F(cuptiRangeProfilerDisable) \
  F(cuptiRangeProfilerGetCounterDataSize) \
  F(cuptiRangeProfilerCounterDataImageInitialize) \
  F(cuptiRangeProfilerSetConfig) \
  F(cuptiRangeProfilerStart) \
  F(cuptiRangeProfilerPushRange) \
  F(cuptiRangeProfilerPopRange) \
  F(cuptiRangeProfilerStop) \
  F(cuptiRangeProfilerDecodeData) \
  F(cuptiRangeProfilerGetCounterDataInfo)
// clang-format on

struct Cupti {
#define KRL_DECLARE(name) decltype(&::name) name = nullptr;
  KRL_CUPTI_FUNCTIONS(KRL_DECLARE)
#undef KRL_DECLARE
};

// A call of CUPTI's that failed. The message names it, and for a lack of permission the ways to
// get it.
struct CuptiError : std::runtime_error {
  CuptiError(CUptiResult code, const std::string& call);
  CUptiResult code;
};

// Loads CUPTI from $CUDA_HOME/extras/CUPTI/lib64, the wheels' folder, /usr/local/cuda or the
// system's search path. Throws std::runtime_error that lists where it was looked for, and how to
// get it.
const Cupti& cupti();

// Throws CuptiError unless the call succeeded.
void require(CUptiResult result, const std::string& call);

#define KRL_CUPTI(function, parameters) \
  ::krl::gpu::require(::krl::gpu::cupti().function(parameters), #function)

// A struct of parameters of CUPTI's, empty except for its size.
#define KRL_CUPTI_PARAMETERS(type, name) \
  type##_Params name{};                  \
  name.structSize = type##_Params_STRUCT_SIZE

}  // namespace krl::gpu
