#include "service/process/child_program.hpp"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "core/base/file_system.hpp"

extern char** environ;

namespace krl::service {

Result<int> run_program(std::vector<std::string> words, const ChildOptions& options) {
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t streams;
  ::posix_spawn_file_actions_init(&streams);
  ::posix_spawn_file_actions_adddup2(&streams, options.output, STDOUT_FILENO);
  ::posix_spawn_file_actions_adddup2(&streams, options.errors, STDERR_FILENO);
  pid_t child = 0;
  const int error =
      ::posix_spawnp(&child, arguments[0], &streams, nullptr, arguments.data(), environ);
  ::posix_spawn_file_actions_destroy(&streams);
  if (error != 0)
    return failure(Code::kFailedPrecondition,
                   "cannot start " + words.front() + ": " + std::strerror(error));
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

Result<int> run_script(const std::string& name, const std::vector<std::string>& words,
                       const ChildOptions& options) {
  std::vector<std::string> all = {options.python,
                                  (shared_files() / "import" / (name + ".py")).string()};
  all.insert(all.end(), words.begin(), words.end());
  if (options.seconds > 0)
    all.insert(all.begin(), {"timeout", "--signal=KILL", std::to_string(options.seconds)});
  auto code = run_program(std::move(all), options);
  constexpr int kNoSuchProgram = 127;  // from `timeout`, as from a shell
  if (options.seconds > 0 && code && *code == kNoSuchProgram)
    code = failure(Code::kFailedPrecondition, "cannot start " + options.python);
  if (!code) code.error().message += "; this needs Python 3.11: set KERNELRL_PYTHON to it";
  return code;
}

std::string installed_program(const std::string& name) {
  return (installation_prefix() / "libexec/kernelrl" / name).string();
}

}  // namespace krl::service
