// Properties of a module's assembled kernels that the time estimate needs. Pure.
#pragma once

#include <vector>

#include "plugins/backends/compiled/compiled_kernels.hpp"
#include "plugins/backends/cpu/gpu_model.hpp"

namespace krl::cpu {
using namespace compiled;

using AssembledKernels = std::vector<AssembledKernel>;

// Unknown figures are 0.
AssembledKernels assembled_kernels(const std::vector<CompiledKernel>& compiled);

}  // namespace krl::cpu
