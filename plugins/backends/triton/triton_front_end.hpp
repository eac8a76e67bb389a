// Triton as a front end: kernels compiled to PTX by the package `triton` in warm, sandboxed processes of
// Python, which need neither torch nor a GPU.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "plugins/backends/evaluator/compile/compile_settings.hpp"
#include "plugins/backends/evaluator/compile/cuda_compiler.hpp"
#include "plugins/process/installed_files.hpp"

namespace krl::triton {

// An installed package, and the Python that it is built for.
struct TritonPackage {
  std::filesystem::path folder;  // holds `triton`
  std::string version;           // "3.6.0"
  std::filesystem::path python;  // empty if it is not on PATH
  std::string python_name;       // "python3.11"
};

// Looks only at files. Empty if the folder holds no package of Triton.
std::optional<TritonPackage> find_triton(const std::filesystem::path& folder);

// Never throws for want of Triton: what is missing is told to whoever brings a kernel. `files`: of the
// plugin.
evaluator::FrontEnd triton_front_end(const evaluator::CompileSettings& settings,
                                     const process::InstalledFiles& files);

}  // namespace krl::triton
