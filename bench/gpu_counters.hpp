// Hardware counters of five naive kernels, printed as ncu prints them: to be held against ncu by
// hand.
#pragma once

#include "tests/unit/backends/evaluator/cpu_fixture.hpp"

namespace krl::bench {

// `backend`: of a GPU. Prints a table of metrics and kernels, of each kernel's first case, and what
// profiling costs.
void print_counters(const testing::BackendInstance& backend);

}  // namespace krl::bench
