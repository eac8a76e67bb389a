#include "plugins/backends/cuda/host/host_figures.hpp"

#include <cxxabi.h>

#include <cstdlib>
#include <memory>

#include "plugins/backends/compiled/cubin.hpp"
#include "plugins/backends/compiled/instruction_classes.hpp"
#include "plugins/backends/compiled/resource_report.hpp"
#include "plugins/backends/ptx/reader.hpp"

namespace krl::cuda {
namespace {

// "scale<float, 4>" of a mangled name, without the parameters.
std::string readable(const std::string& mangled) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(
      abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status), std::free);
  if (!text) return mangled;
  std::string name = text.get();
  name.resize(std::min(name.size(), name.rfind('(')));
  if (name.rfind("void ", 0) == 0) name.erase(0, 5);
  return name;
}

}  // namespace

void add_host_figures(const CompiledModule& module, const std::string& arch,
                      EvaluationRecord* record) {
  std::string why = "invalid compiler output";
  const auto kernels = read_cubin(module.cubin, why);
  if (!kernels) {
    record->fail(Verdict::kCompileError, "the compiled code cannot be read: " + why);
    return;
  }
  const auto reported = read_resource_report(module.report);
  std::vector<std::string> names;
  for (const CubinKernel& kernel : *kernels) {
    const auto found = reported.find(kernel.name);
    const KernelResources resources = found == reported.end() ? KernelResources() : found->second;
    Kernel figures;
    figures.name = readable(kernel.name);
    figures.arch = arch;
    figures.registers = kernel.registers;
    figures.stack_bytes = kernel.stack_bytes;
    figures.spill_bytes = resources.spill_bytes;
    figures.shared_bytes = resources.shared_bytes;
    figures.max_threads = kernel.max_threads;
    record->kernels.push_back(std::move(figures));
    names.push_back(kernel.name);
  }
  const ptx::ReadResult code = ptx::read_module(module.ptx, "");
  if (!code.problem)
    add_instruction_values(count_instructions(code.module, names), &record->values);
}

}  // namespace krl::cuda
