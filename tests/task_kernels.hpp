// Folders of kernels, one a file, whose first line names the task: "// task: ID".
#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

namespace krl::testing {

// Right at the small shapes that their tasks show and nowhere else in particular, as small models
// write them: the grid rounded wrongly, tails, shared arrays for one case, sizes in the text.
inline const std::filesystem::path kOverfitKernels =
    std::filesystem::path(KERNELRL_SOURCE_DIR) / "tests" / "overfit" / "kernels";
// Of right arithmetic, in many orders of summation and with the approximations that are common on
// GPUs, and of wrong one: dropped terms, half precision, truncated loops, shortcuts for tame
// inputs.
inline const std::filesystem::path kToleranceKernels =
    std::filesystem::path(KERNELRL_SOURCE_DIR) / "tests" / "tolerance";

// Sorted, without ".cu".
inline std::vector<std::string> kernel_names(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    names.push_back(entry.path().stem());
  std::sort(names.begin(), names.end());
  return names;
}

struct TaskKernel {
  std::string task, source;  // task: empty if the first line is not as it must be
};

inline TaskKernel task_kernel(const std::filesystem::path& folder, const std::string& name) {
  std::ifstream file(folder / (name + ".cu"));
  TaskKernel kernel;
  kernel.source.assign(std::istreambuf_iterator<char>(file), {});
  constexpr std::string_view kPrefix = "// task: ";
  if (kernel.source.starts_with(kPrefix))
    kernel.task = kernel.source.substr(kPrefix.size(), kernel.source.find('\n') - kPrefix.size());
  return kernel;
}

}  // namespace krl::testing
