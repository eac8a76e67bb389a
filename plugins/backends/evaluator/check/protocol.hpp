// The rules by which a backend judges: kernelrl's own or those of KernelBench
// (docs/kernelbench.md). Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "plugins/backends/evaluator/check/run_plan.hpp"

namespace krl::evaluator {

enum class Protocol : std::uint8_t { kKernelrl, kKernelBench };

inline constexpr char kProtocolChoices[] = "kernelrl|kernelbench";
inline constexpr char kProtocolMeaning[] =
    "the rules: kernelrl's, or KernelBench's: five draws of a task's inputs at its real sizes, "
    "1e-4 (1e-2 in 16 bits) absolute and relative; the reference is the baseline";
inline Protocol protocol_named(const std::string& name) {
  return name == "kernelbench" ? Protocol::kKernelBench : Protocol::kKernelrl;
}

struct PreparedTask;

// Returns a task as KernelBench would judge it: at its real sizes alone, or if it has none or a
// backend has no time for them, at the shown ones; without fresh shapes, and compared with the
// reference's results in float32, without an allowance for rounding.
PreparedTask as_kernelbench(PreparedTask task);

// The runs of such a task. All candidates see the same inputs, as KernelBench's seeds are fixed.
std::vector<PlannedRun> plan_kernelbench(const PreparedTask& task, const RunSeeds& seeds);

}  // namespace krl::evaluator
