// best/TASK.cu and best/TASK.json: the fastest correct kernel of every task, with its evaluation.
// One writer. The JSON file is the record and is replaced at once; the .cu file is its source, put
// right on `open` if a crash came between the two. A kernel found in iterations that a resumed run
// does again stays: it was really found.
#pragma once

#include <filesystem>
#include <kernelrl/evaluation.hpp>
#include <map>
#include <string>
#include <string_view>

#include "core/base/file_system.hpp"
#include "core/base/result.hpp"

namespace krl::core {

struct BestKernel {
  std::string task;
  int iteration = 0;
  std::string source;
  Evaluation evaluation;
};

class BestKernels {
 public:
  static Result<BestKernels> open(const std::filesystem::path& directory,
                                  FileSystem& files = real_file_system());

  // Keeps the kernel if it is faster than the task's best so far. True if it was.
  // REQUIRES: the kernel is correct; its evaluation has a speedup.
  Result<bool> offer(const BestKernel& kernel);

  // The best speedup of every task so far.
  const std::map<std::string, double>& speedups() const { return speedups_; }

 private:
  BestKernels(std::filesystem::path directory, FileSystem& files);

  std::filesystem::path directory_;
  FileSystem* files_;
  std::map<std::string, double> speedups_;
};

// Returns a task's id as a file name: a character other than a letter, digit, '_', '-' or inner '.'
// becomes %XX.
std::string file_name_of_task(std::string_view task);

}  // namespace krl::core
