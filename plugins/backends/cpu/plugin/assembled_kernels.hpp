// Properties of a module's assembled kernels that the time estimate needs. Pure.
#pragma once

#include <vector>

#include "plugins/backends/compiled/compiled_kernels.hpp"
#include "plugins/backends/cpu/gpu_model.hpp"

namespace krl::cpu {

using AssembledKernels = std::vector<AssembledKernel>;

// Unknown figures are 0.
AssembledKernels assembled_kernels(const std::vector<compiled::CompiledKernel>& compiled);

}  // namespace krl::cpu
