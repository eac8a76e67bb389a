// The kernels of tests/triton/kernels: right ones in folders `right`, and `wrong` and `hostile` ones. The
// first line of each says what must come of it, as in tests/hostile.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tests/hostile/hostile_kernels.hpp"

namespace krl::testing {

inline const std::filesystem::path kTritonKernels = KERNELRL_SOURCE_DIR "/tests/triton/kernels";

// "right/softmax_rows_plain", …
inline std::vector<std::string> triton_kernel_names() {
  return names_of_kernels(kTritonKernels, ".py");
}

inline HostileKernel triton_kernel(const std::string& name) {
  return hostile_kernel_in(kTritonKernels / (name + ".py"));
}

}  // namespace krl::testing
