// Rates how close a kernel is to the limits of its GPU (Williams, Waterman, Patterson: Roofline,
// 2009): the least bytes and operations of a case, divided by the GPU's peak rates. Pure.
#pragma once

#include <algorithm>
#include <kernelrl/task_definition.hpp>
#include <string_view>

namespace krl::evaluator {

struct Peaks {
  double bytes_per_ns = 0;       // memory bandwidth of a copy, reads and writes counted
  double operations_per_ns = 0;  // float32 rate; a fused multiply-add counts twice
};

// Names of values of a case: least_ns over its time, above 1 if a cache held data that were counted
// as moved; and the speedup over the reference in PyTorch.
inline constexpr std::string_view kRoofline = "roofline", kReferenceSpeedup = "reference_speedup";

inline double least_ns(const ResolvedCase& resolved, const Peaks& peaks) {
  return std::max(resolved.least_bytes / peaks.bytes_per_ns,
                  resolved.operations / peaks.operations_per_ns);
}

}  // namespace krl::evaluator
