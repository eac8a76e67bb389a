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

  // Takes the kernel if it is faster than the task's best so far, and writes it if it is faster than
  // what is there. True if it was taken. REQUIRES: the kernel is correct; its evaluation has a
  // speedup.
  Result<bool> offer(const BestKernel& kernel);

  // The best speedup of every task so far.
  const std::map<std::string, double>& speedups() const { return speedups_; }

  // Counts with the speedups of an earlier time, from which a run goes on: the kernels of a time
  // that is lost decide nothing.
  void return_to(std::map<std::string, double> speedups) { speedups_ = std::move(speedups); }

  // Removes all kernels.
  Status clear();

 private:
  BestKernels(std::filesystem::path directory, FileSystem& files);

  // Writes the file of a kernel, in the place of one in another language.
  Status write_source(const std::string& stem, const std::string& source);

  std::filesystem::path directory_;
  FileSystem* files_;
  std::map<std::string, double> speedups_, written_;
};

// Returns a task's id as a file name: a character other than a letter, digit, '_', '-' or inner '.'
// becomes %XX.
std::string file_name_of_task(std::string_view task);

}  // namespace krl::core
