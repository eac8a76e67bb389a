// NVRTC as a compiler of candidates: each compile in a sandboxed process of its own.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "plugins/backends/cuda/cuda_compiler.hpp"

namespace krl {

struct NvrtcSettings {
  std::string arch;                // "sm_90"
  std::vector<std::string> flags;  // more options of NVRTC's
  std::filesystem::path cuda;      // where to find it; empty = the usual places
  std::chrono::milliseconds compile_limit{10'000};
  std::uint64_t memory_bytes = std::uint64_t{4} << 30;
};

// Throws Failure(KRL_FAILED_PRECONDITION, KRL_INVALID_ARGUMENT): no NVRTC, an unknown arch.
CudaCompiler nvrtc_compiler(const NvrtcSettings& settings);

}  // namespace krl
