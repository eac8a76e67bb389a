// Finds the available GPUs, and the environment that their processes need.
#pragma once

#include <string>
#include <vector>

#include "plugins/backends/cuda/worker/gpu_list.hpp"

namespace krl::cuda {

// Of our environment: what finds the driver and CUPTI, and says which GPUs are visible.
std::vector<std::string> gpu_environment();

// The GPUs with these indices, or all if there are none. Asks `runner`, the program
// kernelrl-gpu-runner, as the driver is none of ours. Throws Failure(KRL_FAILED_PRECONDITION) that
// says what is missing and how to continue without.
std::vector<gpu::GpuDescription> find_gpus(const std::string& runner,
                                           const std::vector<int>& indices);

}  // namespace krl::cuda
