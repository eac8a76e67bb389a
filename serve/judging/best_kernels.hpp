// The fastest right kernel of each task that a server has judged. Thread-safe.
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "serve/judging/task_shelf.hpp"
#include "serve/judging/told_result.hpp"

namespace krl::serve {

struct BestKernel {
  TaskPointer task;
  std::string source;
  ToldPointer told;
};

class BestKernels {
 public:
  void consider(const TaskPointer& task, const std::string& source, const ToldPointer& told);

  // All of them by task, or that of one.
  std::vector<BestKernel> list(const std::string& task_id = {}) const;

 private:
  mutable std::mutex mutex_;
  std::map<std::string, BestKernel> best_;  // keyed by the task's id and digest
};

}  // namespace krl::serve
