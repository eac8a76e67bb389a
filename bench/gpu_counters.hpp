// Hardware counters of five naive kernels, by CUPTI as evaluations read them, and by Nsight
// Compute.
#pragma once

#include <functional>

#include "tests/unit/backends/evaluator/cpu_fixture.hpp"

namespace krl::bench {

// `backend`: of a GPU. Prints a table of metrics and kernels, of each kernel's first case, and what
// profiling costs.
void print_counters(const testing::BackendInstance& backend);

// The same kernels by both, one backend after the other, since two profilers cannot hold a GPU's
// counters at once: prints what ncu has and what that costs, and holds six counters of it against
// CUPTI's. True if all are within 2 %.
using MakeBackend = std::function<testing::BackendInstance()>;
bool compare_counters(const MakeBackend& with_cupti, const MakeBackend& with_ncu);

}  // namespace krl::bench
