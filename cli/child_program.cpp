#include "cli/child_program.hpp"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "cli/console.hpp"
#include "core/base/file_system.hpp"

extern char** environ;

namespace krl::cli {

Result<int> run_program(Words words) {
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  std::fflush(output());
  posix_spawn_file_actions_t streams;
  ::posix_spawn_file_actions_init(&streams);
  ::posix_spawn_file_actions_adddup2(&streams, ::fileno(output()), STDOUT_FILENO);
  ::posix_spawn_file_actions_adddup2(&streams, ::fileno(errors()), STDERR_FILENO);
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

Result<int> run_script(const std::string& name, const Words& words) {
  const char* const chosen = std::getenv("KERNELRL_PYTHON");
  Words all = {chosen != nullptr ? chosen : "python3",
               (shared_files() / "import" / (name + ".py")).string()};
  all.insert(all.end(), words.begin(), words.end());
  auto code = run_program(std::move(all));
  if (!code) code.error().message += "; this needs Python 3.11: set KERNELRL_PYTHON to it";
  return code;
}

std::string installed_program(const std::string& name) {
  return (installation_prefix() / "libexec/kernelrl" / name).string();
}

}  // namespace krl::cli
