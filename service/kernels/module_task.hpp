// A task made of a PyTorch module or function, by scripts/import/pytorch.py.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/plugin/components.hpp"
#include "core/task/task.hpp"
#include "service/process/child_program.hpp"

namespace krl::service {

struct ModuleOptions {
  std::filesystem::path file;
  std::string name;                 // the class or function; empty: the only one in the file
  std::vector<std::string> shapes;  // "x=rows:1024,columns:512"
};

// A module that a client has sent.
struct ModuleText {
  std::string id;    // the task's: letters, digits and "_"
  std::string text;  // Python
  std::string name;  // this and the next as in ModuleOptions
  std::vector<std::string> shapes;
};

// Imports the module, or takes the task that an earlier import left in the cache folder, if neither
// the module nor the options have changed since. The script's progress goes to `child.errors`.
// Blocks for seconds.
Result<Task> task_of_module(const ModuleOptions& options, ChildOptions child,
                            Components& components);

// The same of a text. It runs the text, as any import does.
Result<Task> task_of_module(const ModuleText& module, const ChildOptions& child,
                            Components& components);

}  // namespace krl::service
