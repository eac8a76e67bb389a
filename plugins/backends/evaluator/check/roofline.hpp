// How close a kernel is to the limits of its GPU (Williams, Waterman, Patterson: Roofline, 2009):
// the least bytes and operations of a case, over the GPU's peak rates. Pure.
#pragma once

#include <algorithm>
#include <kernelrl/task_definition.hpp>
#include <string_view>

namespace krl::evaluator {

struct Peaks {
  double bytes_per_ns = 0;       // of memory, read and written, by a copy
  double operations_per_ns = 0;  // of float32 arithmetic, a fused multiply and add being two
};

// Values of a case: least_ns over what it took, above 1 where a cache held what was counted as
// moved; and how many times as fast as the reference in PyTorch it is.
inline constexpr std::string_view kRoofline = "roofline", kReferenceSpeedup = "reference_speedup";

inline double least_ns(const ResolvedCase& resolved, const Peaks& peaks) {
  return std::max(resolved.least_bytes / peaks.bytes_per_ns,
                  resolved.operations / peaks.operations_per_ns);
}

}  // namespace krl::evaluator
