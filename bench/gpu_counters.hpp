// Hardware counters of five naive kernels, printed as ncu prints them, and what it takes to hold
// them against ncu by hand.
#pragma once

#include <string>

#include "tests/unit/backends/evaluator/cpu_fixture.hpp"

namespace krl::bench {

// `backend`: of a GPU. Prints a table of metrics and kernels, of each kernel's first case, and what
// profiling costs.
void print_counters(const testing::BackendInstance& backend);

// Writes FOLDER/TASK.requests, which make kernelrl-gpu-runner run the kernel once as it was
// profiled, and prints the ncu commands that profile that. Throws krl::Failure.
void save_for_ncu(const std::string& folder);

}  // namespace krl::bench
