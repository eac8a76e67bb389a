// The kernels of tests/hostile/kernels: their first line says what each is and what must come of
// it: "// task: ID expect: VERDICT", or several verdicts with '|' between them where the order of
// checks may differ between backends. "on-gpu: VERDICT" follows where a GPU does not see what the
// emulator sees: a race that it happens to win, an access that hits another buffer.
#pragma once

#include <algorithm>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "plugins/backends/evaluator/evaluation_record.hpp"
#include "plugins/backends/evaluator/process/descriptor.hpp"

namespace krl::testing {

struct HostileKernel {
  std::string task, expected, expected_on_gpu, source;

  bool expects(std::uint32_t verdict) const { return is_one_of(expected, verdict); }
  bool expects_on_gpu(std::uint32_t verdict) const { return is_one_of(expected_on_gpu, verdict); }

 private:
  static bool is_one_of(const std::string& verdicts, std::uint32_t verdict) {
    const std::string name(verdict_name(verdict));
    return ("|" + verdicts + "|").find("|" + name + "|") != std::string::npos;
  }
};

inline std::vector<std::string> hostile_kernel_names() {
  std::vector<std::string> names;
  for (const auto& file :
       std::filesystem::directory_iterator(KERNELRL_SOURCE_DIR "/tests/hostile/kernels")) {
    names.push_back(file.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

// Without a task if the first line is not as it must be.
inline HostileKernel hostile_kernel(const std::string& name) {
  HostileKernel kernel;
  kernel.source = read_file(KERNELRL_SOURCE_DIR "/tests/hostile/kernels/" + name + ".cu");
  std::istringstream first_line(kernel.source.substr(0, kernel.source.find('\n')));
  std::string slashes, task_word, task, expect_word, gpu_word;
  first_line >> slashes >> task_word >> task >> expect_word >> kernel.expected;
  if (!(first_line >> gpu_word >> kernel.expected_on_gpu) || gpu_word != "on-gpu:") {
    kernel.expected_on_gpu = kernel.expected;
  }
  if (task_word == "task:" && expect_word == "expect:") kernel.task = task;
  return kernel;
}

}  // namespace krl::testing
