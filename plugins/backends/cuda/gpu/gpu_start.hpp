// Prepares GPUs for evaluations according to a backend's options.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "plugins/backends/cuda/gpu/gpu_pool.hpp"
#include "plugins/backends/evaluator/check/case_data.hpp"
#include "plugins/backends/evaluator/compile/cuda_compiler.hpp"
#include "plugins/process/installed_files.hpp"

namespace krl::cuda {

struct GpuSettings {
  std::string reference = "auto";  // device that computes expected values: auto, cuda, cpu
  // Memory of each process for a candidate's buffers; 0 = by the GPU.
  std::uint64_t arena_bytes = 0;
  evaluator::Sizes sizes = evaluator::Sizes::kReal;  // sizes of cases that must fit
  std::chrono::milliseconds run_limit{10'000};
  bool counters = true;   // are hardware counters wanted, where they can be read?
  std::string libraries;  // names of the libraries that host code may load
  std::string ncu;        // the program that reads them; empty = CUPTI does
};

// The GPUs with these indices ("0,1"; empty = all that are visible), which must be alike. Throws
// Failure as find_gpus does.
std::vector<gpu::GpuDescription> choose_gpus(const std::string& indices,
                                             const process::InstalledFiles& files);

// trusted_kernels.cu, for the compiler's architecture. Throws Failure(KRL_FAILED_PRECONDITION).
std::string compiled_trusted_code(const evaluator::CudaCompiler& compiler);

// Compiles the checker's kernels and starts the GPUs' processes. `files`: the plugin's. Throws
// Failure(KRL_FAILED_PRECONDITION, KRL_INVALID_ARGUMENT) if the compiler's architecture is not that
// of the GPUs, or their parts are not installed.
std::unique_ptr<GpuPool> start_gpus(const std::vector<gpu::GpuDescription>& gpus,
                                    const evaluator::CudaCompiler& compiler,
                                    const GpuSettings& settings,
                                    const process::InstalledFiles& files);

}  // namespace krl::cuda
