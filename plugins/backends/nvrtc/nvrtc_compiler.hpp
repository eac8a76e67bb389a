// NVRTC as a compiler of candidates: each compile in a sandboxed process of its own, which a warm
// one has forked.
#pragma once

#include "plugins/backends/cuda/compile_settings.hpp"
#include "plugins/backends/cuda/cuda_compiler.hpp"
#include "plugins/backends/evaluator/installed_files.hpp"

namespace krl {

// `files`: of the plugin. Throws Failure(KRL_FAILED_PRECONDITION, KRL_INVALID_ARGUMENT): no NVRTC,
// an unknown arch.
CudaCompiler nvrtc_compiler(const CompileSettings& settings, const InstalledFiles& files);

}  // namespace krl
