#include "service/kernels/module_task.hpp"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <utility>

#include "core/base/file_system.hpp"
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
    return invalid(std::move(why));
  }
  KRL_ASSIGN(std::vector<Task> tasks, tasks_of(task, components));
  return std::move(tasks.front());
}

}  // namespace krl::service
