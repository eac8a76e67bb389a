// Kernels as small models write them, right at the small shapes that their tasks show and nowhere
// else in particular: the grid rounded wrongly, tails, shared arrays for one case, sizes in the
// text. Each is a file of kernels/; its first line names its task.
#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

namespace krl::testing {

inline const std::filesystem::path kOverfitFolder =
    std::filesystem::path(KERNELRL_SOURCE_DIR) / "tests" / "overfit" / "kernels";

inline std::vector<std::string> overfit_kernel_names() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(kOverfitFolder))
    names.push_back(entry.path().stem());
  std::sort(names.begin(), names.end());
  return names;
}

struct OverfitKernel {
  std::string task, source;
};

inline OverfitKernel overfit_kernel(const std::string& name) {
  std::ifstream file(kOverfitFolder / (name + ".cu"));
  OverfitKernel kernel;
  kernel.source.assign(std::istreambuf_iterator<char>(file), {});
  constexpr std::string_view kPrefix = "// task: ";
  if (kernel.source.starts_with(kPrefix))
    kernel.task = kernel.source.substr(kPrefix.size(), kernel.source.find('\n') - kPrefix.size());
  return kernel;
}

}  // namespace krl::testing
