// Tasks by their names. Not thread-safe, as Components is not.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/base/result.hpp"
#include "core/plugin/components.hpp"
#include "core/task/task.hpp"

namespace krl::service {
using namespace core;

// Reads the tasks of a file, or of a folder, by the dataset `tasks`.
Result<std::vector<Task>> tasks_of(const std::filesystem::path& path, Components& components);

Result<std::vector<Task>> built_in_tasks(Components& components);

Result<Task> find_built_in_task(const std::string& id, Components& components);

// `name` is a task file, or the id of a built-in task.
Result<Task> find_task(const std::string& name, Components& components);

// Returns all tasks of a folder; else the one that find_task finds.
Result<std::vector<Task>> tasks_named(const std::string& name, Components& components);

}  // namespace krl::service
