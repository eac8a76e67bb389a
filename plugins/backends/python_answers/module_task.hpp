// Reads from a task's prompt how the original PyTorch module is constructed, what its forward
// takes, and which inputs replace its own tensors. The importer of KernelBench (scripts/import)
// writes these sentences, for models and for model_answer.hpp. Pure.
#pragma once

#include <kernelrl/task_definition.hpp>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "plugins/python/syntax.hpp"

namespace krl::python {

struct ModuleTask {
  using Named = std::vector<std::pair<std::string, Expression>>;

  std::vector<Expression> arguments;           // arguments of the constructor
  Named names;                                 // values of names in them
  std::map<std::string, std::string> axes;     // name in them -> axis
  Named constants;                             // arguments of forward that are no tensors
  std::vector<std::string> inputs;             // inputs of forward
  std::map<std::string, std::string> tensors;  // "conv.weight" -> input
};

// If the prompt does not describe a module, there are no arguments, and all inputs are forward's.
ModuleTask module_task(const TaskDefinition& task);

}  // namespace krl::python
