// The rules by which a backend judges: kernelrl's own or those of KernelBench
// (docs/kernelbench.md). Pure.
#pragma once

#include <cstdint>
#include <vector>

#include "plugins/backends/evaluator/check/run_plan.hpp"

namespace krl::evaluator {

enum class Protocol : std::uint8_t { kKernelrl, kKernelBench };

struct PreparedTask;

// Returns a task as KernelBench would judge it: at its real sizes alone, or if it has none or a
// backend has no time for them, at the shown ones; without fresh shapes, and compared with the
// reference's results in float32, without an allowance for rounding.
PreparedTask as_kernelbench(PreparedTask task);

// The runs of such a task. All candidates see the same inputs, as KernelBench's seeds are fixed.
std::vector<PlannedRun> plan_kernelbench(const PreparedTask& task, const RunSeeds& seeds);

}  // namespace krl::evaluator
