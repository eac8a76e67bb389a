// Properties of a module's assembled kernels that the time estimate needs. Pure.
#pragma once

#include <vector>

#include "plugins/backends/compiled/compiled_module.hpp"
#include "plugins/backends/cpu/gpu_model.hpp"

namespace krl::cpu {
using namespace compiled;

using AssembledKernels = std::vector<AssembledKernel>;

// Indexed like the module's names. Kernels that the CUBIN lacks have no known figures.
AssembledKernels assembled_kernels(const CompiledModule& module);

}  // namespace krl::cpu
