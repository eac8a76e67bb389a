// The kernels of a module as its CUBIN and the assembler's report have them. Pure; both are
// untrusted.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "plugins/backends/compiled/compiled_module.hpp"
#include "plugins/backends/compiled/cubin.hpp"
#include "plugins/backends/compiled/resource_report.hpp"

namespace krl::compiled {

struct CompiledKernel {
  CubinKernel code;
  KernelResources resources;
  // "float const*", "int", …; empty if the kernel's name lacks them (extern "C").
  std::vector<std::string> parameter_types;
};

// Reads all kernels, in the order of the CUBIN. No value, with the reason in `why`, if it cannot be
// read.
std::optional<std::vector<CompiledKernel>> read_kernels(const CompiledModule& module,
                                                        std::string& why);

// Returns the kernels that were requested, in the order of the module's names; one that the CUBIN
// lacks has no name and no figures.
std::vector<CompiledKernel> requested_kernels(const CompiledModule& module,
                                              const std::vector<CompiledKernel>& all);

}  // namespace krl::compiled
