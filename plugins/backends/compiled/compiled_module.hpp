// The result of compiling CUDA source. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace krl::compiled {

struct CompiledModule {
  std::string cubin;
  std::string ptx;
  std::string report;              // ptxas' lines, see resource_report.hpp
  std::vector<std::string> names;  // mangled names of the requested kernels, in their order
  std::string library{};           // a shared object with the host code; of the contract host only
};

std::string to_bytes(const CompiledModule& module);
// Empty if to_bytes cannot have made the bytes: they come from a process that a candidate may have
// taken over.
std::optional<CompiledModule> module_from_bytes(std::string_view bytes);

}  // namespace krl::compiled
