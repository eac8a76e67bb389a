// Finds the available GPUs, and the environment that their processes need.
#pragma once

#include <string>
#include <vector>

#include "plugins/backends/cuda/worker/gpu_list.hpp"

namespace krl::cuda {

// Selects the variables of our environment that locate the driver and CUPTI, and select the visible
// GPUs.
std::vector<std::string> gpu_environment();

// Returns the GPUs with these indices, or all if there are none. Asks `runner`, the program
// kernelrl-gpu-runner, because the driver is not loaded here. Throws
// Failure(KRL_FAILED_PRECONDITION) that explains what is missing and how to continue without.
std::vector<gpu::GpuDescription> find_gpus(const std::string& runner,
                                           const std::vector<int>& indices);

// The files of the libraries with these names ("cublas, cublasLt") in the folders of `environment`
// and of the system. Throws Failure(KRL_INVALID_ARGUMENT) for one that is in none.
std::vector<std::string> find_libraries(const std::string& names,
                                        const std::vector<std::string>& environment);

}  // namespace krl::cuda
