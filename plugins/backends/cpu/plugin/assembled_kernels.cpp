#include "plugins/backends/cpu/plugin/assembled_kernels.hpp"

#include <algorithm>

#include "plugins/backends/compiled/cubin.hpp"
#include "plugins/backends/compiled/resource_report.hpp"

namespace krl::cpu {

AssembledKernels assembled_kernels(const CompiledModule& module) {
  std::string why;
  const auto code = read_cubin(module.cubin, why);
  const auto report = read_resource_report(module.report);
  AssembledKernels kernels(module.names.size());
  for (std::size_t k = 0; k < kernels.size(); ++k) {
    const auto is_it = [&](const CubinKernel& known) { return known.name == module.names[k]; };
    if (code) {
      const auto found = std::find_if(code->begin(), code->end(), is_it);
      if (found != code->end()) kernels[k].registers = std::max(0, found->registers);
    }
    if (const auto found = report.find(module.names[k]); found != report.end()) {
      kernels[k].spill_bytes = std::max(0, found->second.spill_bytes);
      kernels[k].barriers = std::max(0, found->second.barriers);
      kernels[k].shared_bytes = std::max(0, found->second.shared_bytes);
    }
  }
  return kernels;
}

}  // namespace krl::cpu
