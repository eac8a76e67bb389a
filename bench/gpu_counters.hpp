// Hardware counters of five naive kernels, by CUPTI as evaluations read them, and by Nsight
// Compute.
#pragma once

#include "tests/unit/backends/evaluator/cpu_fixture.hpp"

namespace krl::bench {

// `backend`: of a GPU. Prints a table of metrics and kernels, of each kernel's first case, and what
// profiling costs.
void print_counters(const testing::BackendInstance& backend);

// The same kernels by both: prints what ncu has and what that costs, and holds six counters of it
// against CUPTI's. True if all are within 2 %.
bool compare_counters(const testing::BackendInstance& by_cupti,
                      const testing::BackendInstance& by_ncu);

}  // namespace krl::bench
