// The kernels of tests/hostile/kernels, in folders by idea. The first line of each says what must
// come of it:
//
//   // task: ID expect: VERDICT [on-gpu: VERDICT] [min-speedup: X] [max-speedup: X]
//   [max-speedup-on-gpu: X]
//
// VERDICT may be several with '|' between them, where the order of checks may differ between
// backends or a compiler decides. `on-gpu` follows where a GPU does not see what the machine sees:
// a race that it happens to win, an access that hits another buffer. `max-speedup` bounds the
// estimate of a kernel that is right but plays tricks with the time model, `min-speedup` that of one
// that no trick makes slow, such as waiting for others; `max-speedup-on-gpu`
// what is measured of one whose tricks with the timing may gain it nothing. A kernel of right/ may
// be refused, where its line allows that, only as unsupported.
#pragma once

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "plugins/backends/evaluator/evaluation_record.hpp"
#include "plugins/files/file.hpp"

namespace krl::testing {
using namespace evaluator;

inline const std::filesystem::path kHostileKernels = KERNELRL_SOURCE_DIR "/tests/hostile/kernels";

struct HostileKernel {
  std::string task, expected, expected_on_gpu, source;
  double min_speedup = 0, max_speedup = std::numeric_limits<double>::infinity();
  double max_speedup_on_gpu = max_speedup;

  bool expects(Verdict verdict) const { return is_one_of(expected, verdict); }
  bool expects_on_gpu(Verdict verdict) const { return is_one_of(expected_on_gpu, verdict); }

 private:
  static bool is_one_of(const std::string& verdicts, Verdict verdict) {
    const std::string name(name_of(verdict));
    return ("|" + verdicts + "|").find("|" + name + "|") != std::string::npos;
  }
};

// The files with an extension in a folder and those within, sorted, without the extension.
inline std::vector<std::string> names_of_kernels(const std::filesystem::path& folder,
                                                 std::string_view extension) {
  std::vector<std::string> names;
  for (const auto& file : std::filesystem::recursive_directory_iterator(folder)) {
    if (file.path().extension() != extension) continue;
    const std::filesystem::path name = file.path().lexically_relative(folder);
    names.push_back((name.parent_path() / name.stem()).string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

// "right/recursion", "races/missing_fence", …
inline std::vector<std::string> hostile_kernel_names() {
  return names_of_kernels(kHostileKernels, ".cu");
}

// Without a task if the first line is not as it must be.
inline HostileKernel hostile_kernel_in(const std::filesystem::path& file) {
  HostileKernel kernel;
  kernel.source = files::read_file_or_empty(file.string());
  std::istringstream first_line(kernel.source.substr(0, kernel.source.find('\n')));
  std::string mark, key, value, task;
  bool good = static_cast<bool>(first_line >> mark) && (mark == "//" || mark == "#");
  while (good && first_line >> key >> value) {
    if (key == "task:")
      task = value;
    else if (key == "expect:")
      kernel.expected = value;
    else if (key == "on-gpu:")
      kernel.expected_on_gpu = value;
    else if (key == "min-speedup:")
      kernel.min_speedup = std::stod(value);
    else if (key == "max-speedup:")
      kernel.max_speedup = std::stod(value);
    else if (key == "max-speedup-on-gpu:")
      kernel.max_speedup_on_gpu = std::stod(value);
    else
      good = false;
  }
  if (kernel.expected_on_gpu.empty()) kernel.expected_on_gpu = kernel.expected;
  if (good && !kernel.expected.empty()) kernel.task = task;
  return kernel;
}

inline HostileKernel hostile_kernel(const std::string& name) {
  return hostile_kernel_in(kHostileKernels / (name + ".cu"));
}

}  // namespace krl::testing
