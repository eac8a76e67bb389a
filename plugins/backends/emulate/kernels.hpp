// The kernels of a file, compiled, with their launches: the directives of the file, or those of a call.
#pragma once

#include <kernelrl/task_definition.hpp>
#include <optional>
#include <string>
#include <vector>

#include "plugins/backends/cpu/plugin/installation.hpp"
#include "plugins/backends/emulate/buffers.hpp"
#include "plugins/backends/evaluator/candidate/candidate_builder.hpp"
#include "plugins/backends/evaluator/compile/compile_settings.hpp"

namespace krl::emulate {

struct KernelFile {
  std::string path, source;
  ScannedSource scanned;
};

// Throws as files::read_file does.
KernelFile read_kernel_file(const std::string& path);

// Adds directives that name the buffers, and if there are launches, those in the place of the file's.
// Throws Failure(KRL_INVALID_ARGUMENT) if there is nothing to run.
void add_directives(const std::vector<Buffer>& buffers, const std::vector<std::string>& launches,
                    KernelFile* file);

// A task with one case, whose scalars are these values: what directives are resolved by.
evaluator::PreparedTask task_of(const std::vector<ResolvedScalar>& values);

// "auto": nvcc for CUDA C++ with a `main`, whose host code NVRTC does not take; else NVRTC. Throws
// Failure as the compilers do.
evaluator::CudaCompiler compiler_for(const KernelFile& file, const std::string& name,
                                     const evaluator::CompileSettings& settings,
                                     const cpu::Installation& installation);

// Throws Failure(KRL_INVALID_ARGUMENT) for a launch that is wrong: "--launch …: column 3: …".
void check_launches(const KernelFile& file, const std::vector<std::string>& launches,
                    const evaluator::PreparedTask& task, const LaunchLimits& limits);

}  // namespace krl::emulate
