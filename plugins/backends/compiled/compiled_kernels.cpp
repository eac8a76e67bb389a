#include "plugins/backends/compiled/compiled_kernels.hpp"

#include <algorithm>

namespace krl::compiled {

std::optional<std::vector<CompiledKernel>> read_kernels(const CompiledModule& module,
                                                        std::string& why) {
  const auto code = read_cubin(module.cubin, why);
  if (!code) return std::nullopt;
  const auto reported = read_resource_report(module.report);
  std::vector<CompiledKernel> kernels;
  for (const CubinKernel& kernel : *code) {
    const auto found = reported.find(kernel.name);
    kernels.push_back({kernel, found == reported.end() ? KernelResources() : found->second});
  }
  return kernels;
}

std::vector<CompiledKernel> requested_kernels(const CompiledModule& module,
                                              const std::vector<CompiledKernel>& all) {
  std::vector<CompiledKernel> requested;
  for (const std::string& name : module.names) {
    const auto found = std::find_if(all.begin(), all.end(), [&](const CompiledKernel& kernel) {
      return kernel.code.name == name;
    });
    requested.push_back(found == all.end() ? CompiledKernel() : *found);
  }
  return requested;
}

}  // namespace krl::compiled
