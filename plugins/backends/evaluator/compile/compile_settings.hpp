// A plan's settings for compiling CUDA, with any compiler. Plain data.
#pragma once

#include <chrono>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace krl::evaluator {

struct CompileSettings {
  std::string arch;                   // "sm_90"
  std::vector<std::string> flags;     // more options of the compiler's
  std::filesystem::path cuda;         // folder of the compiler; empty = the usual places
  std::filesystem::path triton = {};  // folder that holds the package; empty = that of the wheels
  std::chrono::milliseconds compile_limit{10'000};      // processor time
  std::uint64_t memory_bytes = std::uint64_t{4} << 30;  // each process
  int at_a_time = 1;                                    // compiles, at least 1

  // The processor time of a compile as Linux limits it, rounded up.
  std::uint32_t cpu_seconds() const {
    const std::chrono::duration<double> limit = compile_limit;
    return static_cast<std::uint32_t>(std::ceil(limit.count()));
  }
};

}  // namespace krl::evaluator
