#include "service/kernels/tasks.hpp"

#include <kernelrl/spelling.hpp>
#include <utility>

#include "core/base/file_system.hpp"
#include "core/plugin/dataset.hpp"

namespace krl::service {
namespace fs = std::filesystem;

Result<std::vector<Task>> tasks_of(const fs::path& path, Components& components) {
  std::error_code ignored;
  const ComponentSettings settings{"tasks", {{"path", fs::absolute(path, ignored).string()}}, {}};
  KRL_ASSIGN(const Dataset* dataset, components.dataset(settings));
  KRL_ASSIGN(DatasetItems items, dataset->read_all());
  return std::move(items.tasks);
}

Result<std::vector<Task>> built_in_tasks(Components& components) {
  return tasks_of(shared_files() / "configs" / "tasks", components);
}

Result<Task> find_built_in_task(const std::string& id, Components& components) {
  KRL_ASSIGN(std::vector<Task> tasks, built_in_tasks(components));
  std::vector<std::string> ids;
  for (Task& task : tasks) {
    if (task.id == id) return std::move(task);
    ids.push_back(task.id);
  }
  return invalid("no task '" + id + "'" +
                 did_you_mean(id, ids, "; name one of the built-in tasks or a task file"));
}

Result<Task> find_task(const std::string& name, Components& components) {
  std::error_code ignored;
  if (!name.ends_with(".toml") && !fs::exists(name, ignored))
    return find_built_in_task(name, components);
  KRL_ASSIGN(std::vector<Task> tasks, tasks_of(name, components));
  if (tasks.size() == 1) return std::move(tasks.front());
  return invalid("'" + name + "' holds " + std::to_string(tasks.size()) +
                 " tasks; name the file of one");
}

Result<std::vector<Task>> tasks_named(const std::string& name, Components& components) {
  std::error_code ignored;
  if (fs::is_directory(name, ignored)) return tasks_of(name, components);
  KRL_ASSIGN(Task task, find_task(name, components));
  return std::vector<Task>{std::move(task)};
}

}  // namespace krl::service
