// Task files: TOML, one task each, read strictly. All errors of all files are found, not only the
// first, and each is shown with its place:
//
//   tasks/tier0/relu.toml:9:10: error: unknown dtype 'flaot32'; did you mean 'float32'?
//      9 | dtype  = "flaot32"
//        |          ^~~~~~~~~
#pragma once

#include <filesystem>
#include <kernelrl/task_definition.hpp>
#include <string>
#include <vector>

namespace krl::tasks {

struct LoadedTasks {
  // Ordered by their files' paths; only those without errors.
  std::vector<TaskDefinition> tasks;
  std::vector<std::string> errors;  // each as above, ready to print
};

// Reads one task from the text of a file that is called `name` in messages.
LoadedTasks read_task_text(const std::string& text, const std::string& name);

// Reads the file `path`, or every *.toml file in and below the folder `path`. Ids must be unique.
LoadedTasks load_tasks(const std::filesystem::path& path);

}  // namespace krl::tasks
