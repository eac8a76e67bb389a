#include "service/kernels/module_task.hpp"

#include <stdlib.h>

#include "service/kernels/tasks.hpp"

namespace krl::service {
namespace fs = std::filesystem;

namespace {

// A folder that is removed with all that is in it.
class TemporaryFolder {
 public:
  static Result<TemporaryFolder> make() {
    std::error_code error;
    std::string folder = (fs::temp_directory_path(error) / "kernelrl-XXXXXX").string();
    if (error || ::mkdtemp(folder.data()) == nullptr)
      return failure(Code::kUnavailable, "cannot create the temporary folder " + folder +
                                             "; set TMPDIR to a writable folder");
    return TemporaryFolder(folder);
  }
  TemporaryFolder(TemporaryFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  ~TemporaryFolder() {
    std::error_code ignored;
    if (!path_.empty()) fs::remove_all(path_, ignored);
  }

  const fs::path& path() const { return path_; }

 private:
  explicit TemporaryFolder(fs::path path) : path_(std::move(path)) {}

  fs::path path_;
};

}  // namespace

Result<Task> task_of_module(const ModuleOptions& options, ChildOptions child,
                            Components& components) {
  KRL_ASSIGN(const TemporaryFolder folder, TemporaryFolder::make());
  const fs::path task = folder.path() / (options.file.stem().string() + ".toml");
  std::vector<std::string> words = {options.file.string(), task.string()};
  if (!options.name.empty()) words.insert(words.end(), {"--name", options.name});
  for (const std::string& shape : options.shapes) words.insert(words.end(), {"--shape", shape});
  child.output = child.errors;
  KRL_ASSIGN(const int code, run_script("pytorch", words, child));
  if (code != 0) return invalid(options.file.string() + ": no task could be made of it; see above");
  KRL_ASSIGN(std::vector<Task> tasks, tasks_of(task, components));
  return std::move(tasks.front());
}

}  // namespace krl::service
