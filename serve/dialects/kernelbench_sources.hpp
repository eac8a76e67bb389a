// Finds the task that scripts/import/kernelbench.py has made of a problem, by the problem's source.
// Immutable.
#pragma once

#include <map>
#include <string>

#include "serve/judging/task_shelf.hpp"

namespace krl::serve::kernelgym {

class KernelBenchSources {
 public:
  // Reads the digests in the importer's report.json beside the tasks; tasks without one are not
  // found.
  explicit KernelBenchSources(const TaskShelf& tasks);

  // Blank lines and blanks at the ends of lines do not matter.
  Result<TaskPointer> find(const std::string& source) const;

 private:
  std::map<std::string, TaskPointer> by_digest_;
};

}  // namespace krl::serve::kernelgym
