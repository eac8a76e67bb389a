// What a plan says about compiling CUDA, whichever compiler does it. Plain data.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace krl {

struct CompileSettings {
  std::string arch;                // "sm_90"
  std::vector<std::string> flags;  // more options of the compiler's
  std::filesystem::path cuda;      // where to find the compiler; empty = the usual places
  std::chrono::milliseconds compile_limit{10'000};      // of the processor
  std::uint64_t memory_bytes = std::uint64_t{4} << 30;  // address space of each process
};

}  // namespace krl
