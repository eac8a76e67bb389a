// NVRTC as a compiler of candidates: each compile in a separate sandboxed process, forked from a
// warm one.
#pragma once

#include <string>
#include <vector>

#include "plugins/backends/evaluator/compile/compile_settings.hpp"
#include "plugins/backends/evaluator/compile/cuda_compiler.hpp"
#include "plugins/backends/nvrtc/nvrtc_library.hpp"
#include "plugins/process/installed_files.hpp"

namespace krl::nvrtc {

// `files`: of the plugin. Throws Failure(KRL_FAILED_PRECONDITION, KRL_INVALID_ARGUMENT): no NVRTC,
// an unknown arch.
evaluator::CudaCompiler nvrtc_compiler(const evaluator::CompileSettings& settings,
                                       const process::InstalledFiles& files);

// The files that a process that compiles may read, and the options of a compile, settings.flags
// among them. Pure.
std::vector<std::string> nvrtc_files(const NvrtcLibrary& nvrtc);
std::vector<std::string> nvrtc_options(const evaluator::CompileSettings& settings,
                                       const NvrtcLibrary& nvrtc);

}  // namespace krl::nvrtc
