#include "plugins/backends/compiled/compiled_kernels.hpp"

#include <algorithm>
#include <string_view>

#include "plugins/backends/compiled/demangled.hpp"

namespace krl::compiled {
namespace {

std::vector<std::string> parameter_types(const std::string& mangled) {
  const std::string readable = demangled(mangled);
  const std::string_view text(readable);
  const auto open = text.rfind('('), close = text.rfind(')');
  if (open == std::string_view::npos || close == std::string_view::npos) return {};
  std::vector<std::string> types(1);
  int depth = 0;  // nesting of template arguments
  for (const char c : text.substr(open + 1, close - open - 1)) {
    depth += c == '<' ? 1 : c == '>' ? -1 : 0;
    if (c == ',' && depth == 0) {
      types.emplace_back();
    } else if (c != ' ' || !types.back().empty()) {
      types.back() += c;
    }
  }
  return types;
}

}  // namespace

std::optional<std::vector<CompiledKernel>> read_kernels(const CompiledModule& module,
                                                        std::string& why) {
  const auto code = read_cubin(module.cubin, why);
  if (!code) return std::nullopt;
  const auto reported = read_resource_report(module.report);
  std::vector<CompiledKernel> kernels;
  for (const CubinKernel& kernel : *code) {
    const auto found = reported.find(kernel.name);
    kernels.push_back({kernel, found == reported.end() ? KernelResources() : found->second,
                       parameter_types(kernel.name)});
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
