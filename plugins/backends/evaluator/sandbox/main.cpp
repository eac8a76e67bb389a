// kernelrl-sandbox: puts limits on itself, then becomes the worker that it is told to start.
//
//   kernelrl-sandbox [limits] -- PROGRAM ARGUMENTS… [--then PROGRAM ARGUMENTS…]…
//   kernelrl-sandbox --probe      which restrictions work on this machine
//
// Used by the evaluator only (sandbox.hpp); no one types these options, so a wrong one just ends
// it.
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <string>
#include <vector>

#include "plugins/backends/evaluator/sandbox/private_folder.hpp"
#include "plugins/backends/evaluator/sandbox/restrictions.hpp"
#include "plugins/backends/evaluator/sandbox/sandbox.hpp"

namespace {

using namespace krl::sandbox;

struct Request {
  ResourceLimits limits;
  bool children = false, forks = false, gpu = false;
  std::uint64_t private_folder_bytes = 0;  // 0: none
  std::vector<std::string> readable, executable;
  std::vector<std::vector<char*>> steps;  // each ends with a null pointer
};

[[noreturn]] void give_up(const std::string& why) {
  std::fprintf(stderr, "kernelrl-sandbox: %s\n", why.c_str());
  std::exit(krl::evaluator::kSandboxFailed);
}

bool set_limit(ResourceLimits& limits, const std::string& option, const char* text) {
  const std::uint64_t value = std::strtoull(text, nullptr, 10);
  if (option == "--address-space") return limits.address_space_bytes = value, true;
  if (option == "--data") return limits.data_bytes = value, true;
  if (option == "--file-size") return limits.file_bytes = value, true;
  if (option == "--cpu") return limits.cpu_seconds = value, true;
  if (option == "--open-files") return limits.open_files = value, true;
  if (option == "--processes") return limits.processes = value, true;
  if (option == "--processors-share") return limits.processors_share = value, true;
  return false;
}

void read_steps(int count, char** arguments, int at, Request* request) {
  for (; at < count; ++at) {
    const std::string word = arguments[at];
    const bool starts = word == "--" || word == "--then";
    if (starts) request->steps.emplace_back();
    if (!starts) request->steps.back().push_back(arguments[at]);
  }
  for (std::vector<char*>& step : request->steps) {
    if (step.empty()) give_up("an empty command");
    step.push_back(nullptr);
  }
}

Request read_request(int count, char** arguments) {
  Request request;
  int at = 1;
  for (; at < count && std::strcmp(arguments[at], "--") != 0; ++at) {
    const std::string option = arguments[at];
    if (option == "--children") request.children = true;
    if (option == "--forks") request.forks = true;
    if (option == "--gpu") request.gpu = true;
    if (option == "--children" || option == "--forks" || option == "--gpu") continue;
    if (++at == count) give_up("option " + option + " lacks its value");
    if (option == "--private-folder") {
      request.private_folder_bytes = std::strtoull(arguments[at], nullptr, 10);
    } else if (option == "--read") {
      request.readable.emplace_back(arguments[at]);
    } else if (option == "--execute") {
      request.executable.emplace_back(arguments[at]);
    } else if (!set_limit(request.limits, option, arguments[at])) {
      give_up("unknown option " + option);
    }
  }
  read_steps(count, arguments, at, &request);
  if (request.steps.empty()) give_up("no command");
  return request;
}

// Every dynamically linked program is started by one of these.
constexpr const char* kInterpreters[] = {"/lib64/ld-linux-x86-64.so.2",
                                         "/lib/ld-linux-aarch64.so.1"};

// A compiler needs it: its absence is fatal, unlike that of a restriction.
void enter_private_folder(std::uint64_t bytes) {
  const std::string memory = enter_folder_in_memory(bytes);
  if (memory.empty()) return;
  const std::string disk = enter_folder_on_disk("/tmp");
  if (!disk.empty()) give_up("no private folder in memory (" + memory + ") nor in " + disk);
}

void restrict(const Request& request, int program) {
  std::vector<std::string> executable = request.executable;
  executable.insert(executable.end(), std::begin(kInterpreters), std::end(kInterpreters));
  for (const std::vector<char*>& step : request.steps) executable.emplace_back(step[0]);
  int abi = 0;
  const bool writes = request.private_folder_bytes > 0;
  if (writes) enter_private_folder(request.private_folder_bytes);
  limit_resources(request.limits);
  if (request.limits.processors_share > 1) limit_processors(request.limits.processors_share);
  die_with_parent();
  forbid_privileges();
  if (!request.gpu) enter_namespaces();
  drop_capabilities();
  FileRules files{request.readable, executable, {}, writes ? "." : ""};
  if (request.gpu) {
    files.controlled = gpu_devices();
    files.controlled.emplace_back("/proc/self/task");  // the driver must name its threads
  }
  restrict_files(files, &abi);
  filter_system_calls({request.children, request.forks, request.gpu, program});
}

// Runs one step of several; true if it ended with 0. Anything else ends the launcher in that way.
void run_step(const std::vector<char*>& step) {
  char* const no_environment[] = {nullptr};
  const pid_t child = ::fork();
  if (child < 0) give_up(std::string("fork: ") + reason());
  if (child == 0) {
    ::execve(step[0], step.data(), no_environment);
    give_up(std::string(step[0]) + ": " + reason());
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return;
  if (WIFEXITED(status)) std::exit(WEXITSTATUS(status));
  ::signal(WTERMSIG(status), SIG_DFL);
  ::raise(WTERMSIG(status));
  std::exit(128 + WTERMSIG(status));
}

int probe() {
  int abi = 0;
  const auto report = [](const std::string& name, const std::string& why) {
    if (why.empty()) std::printf("%s\n", name.c_str());
    if (!why.empty()) std::printf("missing %s: %s\n", name.c_str(), why.c_str());
  };
  const std::uint64_t plenty = std::uint64_t{1} << 40;
  report("rlimits", limit_resources({plenty, plenty, plenty, 60, 64, 64}));
  report("no_new_privs", forbid_privileges());
  report("namespaces", enter_namespaces());
  report("capabilities dropped", drop_capabilities());
  const std::string landlock = restrict_files({}, &abi);
  report(landlock.empty() ? "landlock " + std::to_string(abi) : "landlock", landlock);
  report("seccomp", filter_system_calls({}));
  return 0;
}

}  // namespace

int main(int count, char** arguments) {
  if (count == 2 && std::strcmp(arguments[1], "--probe") == 0) return probe();
  const Request request = read_request(count, arguments);
  if (request.children) {
    restrict(request, -1);
    for (const std::vector<char*>& step : request.steps) run_step(step);
    return 0;
  }
  if (request.steps.size() != 1) give_up("several commands need --children");
  const std::vector<char*>& step = request.steps[0];
  const int program = ::open(step[0], O_PATH | O_CLOEXEC);
  if (program < 0) give_up(std::string(step[0]) + ": " + reason());
  restrict(request, program);
  char* const no_environment[] = {nullptr};
  ::execveat(program, "", step.data(), request.gpu ? environ : no_environment, AT_EMPTY_PATH);
  give_up(std::string(step[0]) + ": " + reason());
}
