// For tests: CUDA source to PTX, by NVRTC within this process.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace krl::machine {

// A compiled source; or the log of why it did not compile.
struct CompiledModule {
  std::vector<std::string> kernels;  // as asked for: "scale<float, 4>"
  std::vector<std::string> names;    // of the same in the PTX
  std::string ptx;                   // empty if it did not compile
  std::string log;
};

// The same source is compiled once in the life of the process. One thread.
const CompiledModule& compile(std::string_view source, const std::vector<std::string>& kernels);

}  // namespace krl::machine
