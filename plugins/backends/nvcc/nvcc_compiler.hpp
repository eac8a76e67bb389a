// nvcc as a compiler of candidates: each compile in a separate sandboxed process with a private
// folder.
#pragma once

#include "plugins/backends/evaluator/compile/compile_settings.hpp"
#include "plugins/backends/evaluator/compile/cuda_compiler.hpp"
#include "plugins/process/installed_files.hpp"

namespace krl::nvcc {

// `files`: of the plugin. Throws Failure(KRL_FAILED_PRECONDITION, KRL_INVALID_ARGUMENT): no nvcc or
// not all of it, an unknown arch, flags that nvcc refuses.
evaluator::CudaCompiler nvcc_compiler(const evaluator::CompileSettings& settings,
                                      const process::InstalledFiles& files);

}  // namespace krl::nvcc
