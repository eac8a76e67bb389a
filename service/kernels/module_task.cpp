#include "service/kernels/module_task.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <kernelrl/temporary_folder.hpp>
#include <utility>

#include "core/base/file_system.hpp"
#include "service/kernels/tasks.hpp"

namespace krl::service {
namespace fs = std::filesystem;

Result<Task> task_of_module(const ModuleOptions& options, ChildOptions child,
                            Components& components) try {
  const TemporaryFolder folder("kernelrl-task");
  const fs::path task = folder.path() / (options.file.stem().string() + ".toml");
  std::vector<std::string> words = {options.file.string(), task.string(), "--keep"};
  if (!options.name.empty()) words.insert(words.end(), {"--name", options.name});
  for (const std::string& shape : options.shapes) words.insert(words.end(), {"--shape", shape});
  const fs::path messages = folder.path() / "messages";
  child.output = std::exchange(
      child.errors, ::open(messages.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, S_IRUSR | S_IWUSR));
  const Result<int> code = run_script("pytorch", words, child);
  ::close(child.errors);
  if (!code) return failure(code.error());
  if (*code != 0) {
    KRL_ASSIGN(std::string why, read_file(messages));
    why.erase(why.find_last_not_of('\n') + 1);
    if (why.empty())
      why = "the import of " + options.file.string() + " was killed; was it too slow?";
    return invalid(std::move(why));
  }
  KRL_ASSIGN(std::vector<Task> tasks, tasks_of(task, components));
  return std::move(tasks.front());
} catch (const Failure& failed) {  // there is no temporary folder
  return failure(Code::kUnavailable, failed.what());
}

Result<Task> task_of_module(const ModuleText& module, const ChildOptions& child,
                            Components& components) try {
  const TemporaryFolder folder("kernelrl-module");
  const fs::path file = folder.path() / (module.id + ".py");
  KRL_TRY(write_atomically(real_file_system(), file, module.text, Durability::kFast));
  auto task = task_of_module({file, module.name, module.shapes}, child, components);
  if (task) return task;
  // The folder's name tells a client nothing.
  const std::string prefix = folder.path().string() + "/";
  std::string& why = task.error().message;
  for (std::size_t at = 0; (at = why.find(prefix, at)) != std::string::npos;)
    why.erase(at, prefix.size());
  return task;
} catch (const Failure& failed) {  // there is no temporary folder
  return failure(Code::kUnavailable, failed.what());
}

}  // namespace krl::service
