// Finds Nsight Compute's command-line profiler, `ncu`. Pure, except for the environment and the
// file system.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace krl::cuda {

// Returns the folders to search, in order: those of $PATH, $CUDA_HOME/bin, /usr/local/cuda/bin,
// then those of other toolkits and of Nsight Compute's own packages (/opt/nvidia/nsight-compute),
// newest first.
std::vector<std::filesystem::path> ncu_folders();

// Returns the first `ncu` in `folders`. Throws Failure(KRL_FAILED_PRECONDITION) that explains where
// it was looked for, how to get it and how to continue without.
std::string find_ncu(const std::vector<std::filesystem::path>& folders = ncu_folders());

}  // namespace krl::cuda
