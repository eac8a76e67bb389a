// A task: the computation that a kernel must implement. Data only; backends read the rest from the
// definition.
#pragma once

#include <string>

#include "core/base/result.hpp"

namespace krl::core {

// The parts of a task's definition that the core itself uses.
struct TaskFacts {
  // The tensors in C's terms, one line for the inputs and scalars, one for the outputs:
  //   in float x[rows, cols], float alpha
  //   out float y[rows]
  std::string signature;
  std::string cases, real_cases;  // "n=1003; n=16387"; real_cases is empty if there are none
  std::string naive;              // empty: none
  bool has_holdout = false;       // shapes that are never shown
};

struct Task {
  std::string id, title, prompt;
  unsigned tier = 0;
  std::string definition_json;  // <kernelrl/task_definition.hpp>
  TaskFacts facts = {};         // facts of the definition, if the task was read for a stage
};

// Reads the facts of a definition. An error explains the fault in it, or that it defines another
// task.
Result<TaskFacts> facts_of(const Task& task);

}  // namespace krl::core
