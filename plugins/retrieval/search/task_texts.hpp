// What documents are looked for by, and what they must not give away, of a task. Thread-safe.
#pragma once

#include <kernelrl/views.hpp>
#include <string>
#include <vector>

namespace krl::retrieval {

struct TaskTexts {
  std::string query;                 // what the task is about: its title, its prompt, its reference
  std::vector<std::string> names;    // its id and title: documents with one of them are its own
  std::vector<std::string> guarded;  // its reference and its naive kernel
};

// Of a definition that cannot be read only the task's own texts count.
TaskTexts texts_of(const Task& task);

}  // namespace krl::retrieval
