// Properties of a module's assembled kernels that the time estimate needs. Pure.
#pragma once

#include <vector>

#include "plugins/backends/cpu/gpu_model.hpp"
#include "plugins/backends/cuda/compiled_module.hpp"

namespace krl::cpu {
using namespace cuda;

using AssembledKernels = std::vector<AssembledKernel>;

// By the index of a kernel in the module's names. Nothing is known of what the CUBIN does not have.
AssembledKernels assembled_kernels(const CompiledModule& module);

}  // namespace krl::cpu
