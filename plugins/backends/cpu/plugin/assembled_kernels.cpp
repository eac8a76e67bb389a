#include "plugins/backends/cpu/plugin/assembled_kernels.hpp"

#include <algorithm>

namespace krl::cpu {
using namespace compiled;

AssembledKernels assembled_kernels(const std::vector<CompiledKernel>& compiled) {
  AssembledKernels kernels;
  for (const auto& [code, resources, types] : compiled) {
    kernels.push_back({std::max(0, code.registers), std::max(0, resources.spill_bytes),
                       std::max(0, resources.barriers), std::max(0, resources.shared_bytes)});
  }
  return kernels;
}

}  // namespace krl::cpu
