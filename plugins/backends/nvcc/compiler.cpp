// kernelrl-nvcc: one compile by the programs of nvcc, in a separate sandboxed process.
//
//   kernelrl-nvcc PREPROCESS… --next TRANSLATE… --next ASSEMBLE… --next [KERNEL…]
//   kernelrl-nvcc --ptx ASSEMBLE… --next [KERNEL…]
//   kernelrl-nvcc --library COMMAND… [--next COMMAND…]…
//
// Reads the source, with --ptx the PTX, from 0, writes the compilers' messages to 1, and the module
// (compiled_module.hpp) to kCompiledModuleDescriptor. The commands are those of an NvccPlan, or of
// an NvccLibraryPlan, and leave their files in the working directory. KERNEL: names as launches
// write them, "scale<float, 4>". Ends with 0 if the source compiled, with 1 if not, with 2 if the
// compile cannot be done, or as a command that was killed at its limits.
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "plugins/backends/compiled/compiled_module.hpp"
#include "plugins/backends/compiled/kernel_references.hpp"
#include "plugins/backends/compiled/resource_report.hpp"
#include "plugins/backends/evaluator/compile/compile_worker.hpp"
#include "plugins/backends/evaluator/compile/message_places.hpp"
#include "plugins/backends/nvcc/nvcc_toolkit.hpp"
#include "plugins/files/descriptor.hpp"

namespace {

constexpr char kLog[] = "kernelrl.log";
enum Exit { kCompiled = 0, kRefused = 1, kUnusable = 2 };

using Command = std::vector<char*>;  // ends with a null pointer

[[noreturn]] void unusable(const std::string& why) {
  std::fprintf(stderr, "kernelrl-nvcc: %s\n", why.c_str());
  std::exit(kUnusable);
}

[[noreturn]] void cannot(const std::string& what) { unusable(what + ": " + std::strerror(errno)); }

void write(int descriptor, std::string_view bytes) {
  if (!krl::files::write_all(descriptor, bytes)) cannot("writing what was compiled");
}

std::string read_file(const char* path) {
  const int file = ::open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) cannot(path);
  std::string content = krl::files::read_all(file);
  ::close(file);
  return content;
}

void write_file(const char* path, std::string_view content) {
  const int file = ::open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (file < 0) cannot(path);
  write(file, content);
  ::close(file);
}

void die_with_parent() { ::prctl(PR_SET_PDEATHSIG, SIGKILL); }

std::int64_t microseconds(const rusage& used) {
  return (used.ru_utime.tv_sec + used.ru_stime.tv_sec) * std::int64_t{1'000'000} +
         used.ru_utime.tv_usec + used.ru_stime.tv_usec;
}

// All commands together may take as long as one: the seconds that those before have left, rounded
// so that the sum is at most 0.2 s too long.
rlim_t seconds_left() {
  rusage used{};
  rlimit limit{};
  ::getrusage(RUSAGE_CHILDREN, &used);
  ::getrlimit(RLIMIT_CPU, &limit);
  const auto gone = static_cast<rlim_t>((microseconds(used) + 800'000) / 1'000'000);
  return limit.rlim_cur > gone ? limit.rlim_cur - gone : 1;
}

[[noreturn]] void become(const Command& command, rlim_t seconds) {
  const rlimit time{seconds, seconds};  // ends by SIGKILL: cicc continues after SIGXCPU
  ::setrlimit(RLIMIT_CPU, &time);
  const int log = ::open(kLog, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  ::dup2(log, STDOUT_FILENO);
  ::dup2(log, STDERR_FILENO);
  die_with_parent();
  char temporary_files[] = "TMPDIR=.";
  char search_path[] = "PATH=/usr/bin:/usr/local/bin:/bin";  // g++ needs it for its linker
  char* const environment[] = {temporary_files, search_path, nullptr};
  ::execve(command[0], command.data(), environment);
  cannot(command[0]);
}

// A crash is the source's failure and must read like one; a limit is the parent's to explain.
[[noreturn]] void end_as(int signal, const char* program) {
  if (signal == SIGXCPU || signal == SIGXFSZ || signal == SIGKILL) {
    ::signal(signal, SIG_DFL);
    ::raise(signal);
  }
  write(STDOUT_FILENO, std::string(krl::evaluator::kSourceFile) + ": internal compiler error: " +
                           std::string(program).substr(std::string(program).rfind('/') + 1) +
                           " crashed\n");
  std::exit(kRefused);
}

// Runs a command, passes on its messages, and returns the figures of ptxas in them. `ptx`: the
// candidate, if the messages name its lines.
std::string run(const Command& command, std::string_view ptx = {}) {
  const rlim_t seconds = seconds_left();
  const pid_t child = ::fork();
  if (child < 0) cannot("fork");
  if (child == 0) become(command, seconds);
  int status = 0;
  rusage used{};
  while (::wait4(child, &status, 0, &used) < 0 && errno == EINTR) {
  }
  const krl::compiled::SplitLog log = krl::compiled::split_log(read_file(kLog));
  write(STDOUT_FILENO,
        ptx.empty() ? log.messages : krl::evaluator::with_lines_of_ptx(log.messages, ptx));
  // Linux counts ticks for the limit, and reports the time more exactly: the two differ a little.
  const bool late = microseconds(used) >= static_cast<std::int64_t>(seconds) * 900'000;
  if (status != 0 && late) end_as(SIGXCPU, command[0]);
  if (WIFSIGNALED(status)) end_as(WTERMSIG(status), command[0]);
  if (WEXITSTATUS(status) != 0) std::exit(kRefused);
  return log.report;
}

// The arguments between kNvccNext.
std::vector<Command> groups_of(int first, int argc, char** argv) {
  std::vector<Command> groups(1);
  for (int i = first; i < argc; ++i) {
    if (std::strcmp(argv[i], krl::nvcc::kNvccNext) == 0) {
      groups.emplace_back();
    } else {
      groups.back().push_back(argv[i]);
    }
  }
  return groups;
}

void hand_over(const krl::compiled::CompiledModule& module) {
  write(krl::evaluator::kCompiledModuleDescriptor, krl::compiled::to_bytes(module));
}

int make_library(std::vector<Command> commands) {
  write_file(krl::evaluator::kSourceFile, krl::files::read_all(STDIN_FILENO));
  std::string report;
  for (Command& command : commands) {
    command.push_back(nullptr);
    report += run(command);
  }
  hand_over({read_file(krl::nvcc::kNvccCubin),
             read_file(krl::nvcc::kNvccPtx),
             report,
             {},
             read_file(krl::nvcc::kNvccLibrary)});
  return kCompiled;
}

int assemble(std::vector<Command> groups) {
  if (groups.size() != 2) unusable("usage: kernelrl-nvcc --ptx ASSEMBLE… --next [KERNEL…]");
  const std::vector<std::string> kernels(groups[1].begin(), groups[1].end());
  groups[0].push_back(nullptr);
  std::string ptx = krl::evaluator::in_ascii(krl::files::read_all(STDIN_FILENO));
  write_file(krl::nvcc::kNvccPtx, ptx);
  const std::string report = run(groups[0], ptx);
  hand_over({read_file(krl::nvcc::kNvccCubin), std::move(ptx), report, kernels, {}});
  return kCompiled;
}

}  // namespace

int main(int argc, char** argv) {
  die_with_parent();
  if (argc > 2 && std::strcmp(argv[1], krl::nvcc::kNvccAssembles) == 0)
    return assemble(groups_of(2, argc, argv));
  if (argc > 2 && std::strcmp(argv[1], krl::nvcc::kNvccMakesLibrary) == 0) {
    return make_library(groups_of(2, argc, argv));
  }
  std::vector<Command> groups = groups_of(1, argc, argv);
  if (groups.size() != 4) {
    unusable(
        "usage: kernelrl-nvcc PREPROCESS… --next TRANSLATE… --next ASSEMBLE… --next [KERNEL…]");
  }
  const std::vector<std::string> kernels(groups[3].begin(), groups[3].end());
  for (Command& group : groups) group.push_back(nullptr);
  const auto& [preprocess, translate, assemble] = std::tie(groups[0], groups[1], groups[2]);

  write_file(krl::evaluator::kSourceFile,
             krl::compiled::with_kernel_references(krl::files::read_all(STDIN_FILENO), kernels));
  run(preprocess);
  run(translate);
  auto [ptx, names] =
      krl::compiled::take_kernel_references(read_file(krl::nvcc::kNvccPtx), kernels.size());
  write_file(krl::nvcc::kNvccPtx, ptx);
  const std::string report = run(assemble);
  hand_over({read_file(krl::nvcc::kNvccCubin), std::move(ptx), report, std::move(names), {}});
  return kCompiled;
}
