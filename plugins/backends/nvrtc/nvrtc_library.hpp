// Finds NVRTC, in the CUDA toolkit or in PyPI's wheel. Pure, except for the file system and the
// environment.
#pragma once

#include <filesystem>
#include <string>

namespace krl::nvrtc {

struct NvrtcLibrary {
  std::filesystem::path library;      // links resolved
  std::filesystem::path headers;      // the folder of cuda_fp16.h; empty if there is none
  std::filesystem::path assembler{};  // nvJitLink beside it; empty if there is none
};

// Finds NVRTC. `wanted`: the library, or a folder of CUDA's; empty = $CUDA_HOME, then the wheels in
// `wheels`, then /usr/local/cuda. Throws Failure(KRL_FAILED_PRECONDITION) that lists where it
// looked and how to get one.
NvrtcLibrary find_nvrtc(const std::filesystem::path& wanted, const std::filesystem::path& wheels);

}  // namespace krl::nvrtc
