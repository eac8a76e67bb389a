// The texts of a task that documents are searched by, and those that documents must not give away.
// Thread-safe.
#pragma once

#include <kernelrl/views.hpp>
#include <string>
#include <vector>

namespace krl::retrieval {

struct TaskTexts {
  std::string query;                 // describes the task: its title, its prompt, its reference
  std::vector<std::string> names;    // its id and title: documents with one of them are its own
  std::vector<std::string> guarded;  // its reference and its naive kernel
};

// If the definition cannot be read, only the task's own texts count.
TaskTexts texts_of(const Task& task);

}  // namespace krl::retrieval
