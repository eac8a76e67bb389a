// Finds nvcc, in the CUDA toolkit or in PyPI's wheels, and the programs it starts: nvcc is a driver
// for the preprocessor of g++, cicc (CUDA to PTX) and ptxas (PTX to CUBIN). A compile starts these
// directly, which saves starting nvcc and its shell.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "plugins/backends/evaluator/compile/diagnostics.hpp"

namespace krl::nvcc {

// Returns nvcc's path, links resolved. `wanted`: nvcc itself, or a folder of CUDA's; empty =
// $CUDA_HOME, then the wheels in `wheels`, then /usr/local/cuda. Throws
// Failure(KRL_FAILED_PRECONDITION) that lists where it looked and how to get one.
std::filesystem::path find_nvcc(const std::filesystem::path& wanted,
                                const std::filesystem::path& wheels);

// "13.0". Throws Failure(KRL_FAILED_PRECONDITION) if it does not run.
std::string nvcc_version(const std::filesystem::path& nvcc);

// The files of a compile, in its working directory.
inline constexpr const char* kNvccPtx = "kernel.ptx";
inline constexpr const char* kNvccCubin = "kernel.cubin";
inline constexpr const char* kNvccLibrary = "kernel.so";

// Stands between the commands that kernelrl-nvcc is given.
inline constexpr const char* kNvccNext = "--next";
// Stands before the commands of a library.
inline constexpr const char* kNvccMakesLibrary = "--library";
inline constexpr const char* kNvccAssembles = "--ptx";

// Commands with absolute programs. They read kSourceFile and leave kNvccPtx and kNvccCubin.
struct NvccPlan {
  std::vector<std::string> preprocess, translate, assemble;
  // Programs that these commands execute, directly or indirectly.
  std::vector<std::string> programs;
  std::vector<std::string> readable;  // folders of the toolkit and of the host compiler
};

// Asks nvcc. `options`: more of nvcc's own. Throws Failure: KRL_INVALID_ARGUMENT with nvcc's own
// words if it refuses them, KRL_FAILED_PRECONDITION if the toolkit is incomplete.
NvccPlan plan_nvcc(const std::filesystem::path& nvcc, const std::vector<std::string>& options);

// Commands that leave kNvccLibrary as well: a shared object of device and host code that contains
// the CUDA runtime. Symbols that neither it nor the C and C++ libraries define are an error of the
// linker.
struct NvccLibraryPlan {
  std::vector<std::vector<std::string>> commands;
  std::vector<std::string> programs, readable;  // as in an NvccPlan
};

// Throws as plan_nvcc does.
NvccLibraryPlan plan_nvcc_library(const std::filesystem::path& nvcc,
                                  const std::vector<std::string>& options);

}  // namespace krl::nvcc
