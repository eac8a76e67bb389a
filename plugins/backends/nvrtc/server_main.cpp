// kernelrl-nvrtc: a compile server. Opens NVRTC once; each compile is a separate process that
// begins as a copy of this one, so that nothing of a candidate reaches the next.
//
//   kernelrl-nvrtc LIBNVRTC [LIBNVJITLINK]   serves until its input ends (compile_request.hpp)
//   kernelrl-nvrtc LIBNVRTC --version        prints "13.0"
//
// Ends with kUnusable if NVRTC cannot be used.
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string>

#include "plugins/backends/evaluator/sandbox/allowed_calls.hpp"
#include "plugins/backends/nvrtc/assembly.hpp"
#include "plugins/backends/nvrtc/compilation.hpp"
#include "plugins/backends/nvrtc/huge_pages.hpp"
#include "plugins/process/message_stream.hpp"

namespace {

using namespace krl::nvrtc;

// NVRTC reads headers; it writes only to open files, and with precompiled headers to one more.
std::vector<krl::sandbox::AllowedCall> compiling_calls(bool precompiled) {
  std::vector<krl::sandbox::AllowedCall> calls = krl::sandbox::computing_calls();
  calls.insert(calls.end(), {{SYS_openat, 2, O_ACCMODE | O_CREAT | O_TRUNC, O_RDONLY},
                             {SYS_newfstatat},
                             {SYS_readlinkat},
                             {SYS_getcwd},
                             {SYS_uname},
                             {SYS_sysinfo},
                             {SYS_sched_getaffinity},
                             {SYS_sched_get_priority_min},
                             {SYS_sched_get_priority_max},
                             {SYS_prlimit64, 2, ~0u, 0}});  // reads its own limits
#ifdef __x86_64__
  calls.insert(calls.end(), {{SYS_stat}, {SYS_lstat}, {SYS_access}, {SYS_readlink}});
#endif
  constexpr std::uint32_t kCreate = O_RDWR | O_CREAT | O_TRUNC;
  if (precompiled) calls.push_back({SYS_openat, 2, O_ACCMODE | O_CREAT | O_TRUNC, kCreate});
  return calls;
}

// Restricts the process of a compile. Limits and filters that the system does not
// have are missing in the server too, which reports that.
void restrict(const CompileRequest& request, bool precompiled, pid_t server) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != server) ::_exit(kUnusable);
  const rlimit seconds{request.cpu_seconds, request.cpu_seconds + 1};
  ::setrlimit(RLIMIT_CPU, &seconds);
  ::dup2(kLogDescriptor, STDOUT_FILENO);
  ::dup2(kLogDescriptor, STDERR_FILENO);
  ::close(kLogDescriptor);
  ::close(STDIN_FILENO);
  krl::sandbox::allow_only(compiling_calls(precompiled));
}

// The libraries of a server.
struct Tools {
  Api nvrtc;
  std::string assembler_file;                         // empty if there is none
  std::optional<Assembler> assembler = std::nullopt;  // once PTX has been asked for
};

[[noreturn]] void compile_and_exit(const Tools& tools, const CompileRequest& request,
                                   bool precompiled, pid_t server) {
  restrict(request, precompiled, server);
  try {
    if (request.is_ptx) ::_exit(tools.assembler->assemble(request));
    ::_exit(compile(tools.nvrtc, precompiled ? with_precompiled(request) : request));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
  }
  ::_exit(kUnusable);
}

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

nlohmann::json ending_of(pid_t child) {
  int status = 0;
  rusage usage{};
  while (::wait4(child, &status, 0, &usage) < 0 && errno == EINTR) {
  }
  return {{"exit_code", WIFEXITED(status) ? WEXITSTATUS(status) : -1},
          {"signal", WIFSIGNALED(status) ? WTERMSIG(status) : 0},
          {"cpu_seconds", seconds(usage.ru_utime) + seconds(usage.ru_stime)}};
}

// Removes what a compile with precompiled headers leaves behind.
void remove_leftovers() {
  for (const auto& entry : std::filesystem::directory_iterator(".")) {
    if (entry.path().filename() != kPrecompiledFile) std::filesystem::remove(entry.path());
  }
}

// Judging one kernel takes two compiles: its own and the naive one's. After these, more are likely:
// moving code pays after some ten compiles, precompiling after two.
constexpr int kCompilesBeforePreparing = 2;

void serve(Tools tools, const std::filesystem::path& folder) {
  const pid_t server = ::getpid();
  grow_heap_by_huge_pages();
  bool precompiled = false;
  for (int compiles = 0; const auto message = krl::process::read_message(STDIN_FILENO);
       ++compiles) {
    const auto request = message->get<CompileRequest>();
    if (compiles == kCompilesBeforePreparing) {
      move_code_to_huge_pages(folder);
      precompiled = !request.preamble.empty() && precompile(tools.nvrtc, request);
    }
    if (request.is_ptx && !tools.assembler) tools.assembler.emplace(tools.assembler_file);
    const pid_t child = ::fork();
    if (child < 0) throw Unusable(std::string("fork: ") + std::strerror(errno));
    if (child == 0) compile_and_exit(tools, request, precompiled, server);
    krl::process::write_message(STDOUT_FILENO, {{"child", child}});
    const nlohmann::json ending = ending_of(child);
    if (precompiled) remove_leftovers();
    krl::process::write_message(STDOUT_FILENO, ending);
  }
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc < 2) throw Unusable("usage: kernelrl-nvrtc LIBNVRTC [LIBNVJITLINK | --version]");
    const Api nvrtc(argv[1]);
    const std::string second = argc == 2 ? "" : argv[2];
    if (second != "--version") {
      serve({nvrtc, second}, std::filesystem::path(argv[1]).parent_path());
      return 0;
    }
    int major = 0, minor = 0;
    nvrtc.require(nvrtc.version(&major, &minor), "nvrtcVersion");
    std::printf("%d.%d", major, minor);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return kUnusable;
  }
}
