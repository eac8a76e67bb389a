#include "core/plugin/library.hpp"

#define BOOST_DLL_USE_STD_FS
#include <dlfcn.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <link.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <boost/dll/library_info.hpp>
#include <boost/dll/shared_library.hpp>
#include <cerrno>
#include <cstring>
#include <deque>
#include <fstream>
#include <system_error>
#include <thread>

#include "core/base/text.hpp"
#include "core/plugin/active_call.hpp"
#include "core/plugin/crash.hpp"

namespace krl::core {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kElf =
    "\x7f"
    "ELF";

bool is_text(std::string_view bytes) {
  return std::ranges::all_of(bytes, [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte >= 0x20 || (byte >= '\t' && byte <= '\r');
  });
}

// Checks that its first bytes are those of an ELF file.
Status check_content(const fs::path& path) {
  std::error_code error;
  if (fs::is_directory(path, error)) return invalid("is a folder, not a shared library");
  if (!fs::is_regular_file(path, error)) return invalid("is not a regular file");
  std::ifstream file(path, std::ios::binary);
  if (!file) return invalid(fmt::format("cannot be read: {}", std::strerror(errno)));
  char bytes[256];
  file.read(bytes, sizeof bytes);
  const std::string_view head(bytes, static_cast<std::size_t>(file.gcount()));
  if (head.empty()) return invalid("is an empty file, not a shared library");
  if (head.starts_with(kElf)) return {};
  return invalid(is_text(head) ? "is a text file, not a shared library"
                               : "is not an ELF shared library");
}

// A call to data would end the process, so the symbol's type is looked up first.
bool is_function(krl_plugin_entry entry) {
  Dl_info library;
  void* symbol = nullptr;
  if (dladdr1(reinterpret_cast<void*>(entry), &library, &symbol, RTLD_DL_SYMENT) == 0) return false;
  return symbol != nullptr &&
         ELF64_ST_TYPE(static_cast<const ElfW(Sym)*>(symbol)->st_info) == STT_FUNC;
}

std::string no_entry() {
  return fmt::format("exports no {}: not a kernelrl plugin, or built without KRL_PLUGIN",
                     KRL_PLUGIN_ENTRY);
}

// Explains why the last library was not loaded, in the dynamic linker's words without the file's
// own name.
std::string linker_error(const fs::path& path) {
  const char* text = ::dlerror();
  std::string why = one_line(text == nullptr ? "the dynamic linker does not say why" : text);
  const std::string own = path.string() + ": ";
  return why.starts_with(own) ? why.substr(own.size()) : why;
}

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds kReapPause{5};
constexpr std::chrono::seconds kReapLimit{2};  // a process whose driver hangs cannot be killed

// Runs the child until its end. A NUL ends its report, because processes that the work has started
// may keep the pipe open.
[[noreturn]] void be_the_child(const std::function<std::string()>& work, int report,
                               ChildOutput output) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // it is in no terminal's group now
  const rlimit no_core{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  const int nowhere = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  ::dup2(nowhere, STDIN_FILENO);
  if (output == ChildOutput::kDropped) {
    for (const int stream : {STDOUT_FILENO, STDERR_FILENO}) ::dup2(nowhere, stream);
  }
  stop_reporting_crashes();  // the parent reports how it ends
  const std::string text = work() + '\0';
  std::string_view rest = text;
  for (ssize_t n; !rest.empty() && (n = ::write(report, rest.data(), rest.size())) > 0;)
    rest.remove_prefix(static_cast<std::size_t>(n));
  ::_exit(rest.empty() ? 0 : 1);
}

// Reads until the child has written its report, or has ended without one.
void read_report(int report, Clock::time_point deadline, ChildEnd& end) {
  std::string text;
  while (true) {
    const auto left = std::chrono::ceil<milliseconds>(deadline - Clock::now());
    end.in_time = left.count() > 0;
    if (!end.in_time) return;
    pollfd ready{report, POLLIN, 0};
    if (::poll(&ready, 1, static_cast<int>(left.count())) <= 0) continue;
    char chunk[4096];
    const ssize_t n = ::read(report, chunk, sizeof chunk);
    if (n == 0) return;
    if (n > 0) text.append(chunk, static_cast<std::size_t>(n));
    if (!text.ends_with('\0')) continue;
    text.pop_back();
    end.report = std::move(text);
    return;
  }
}

// Kills the rest of the child and everything that it has started. Returns its status, as it ended.
int reap(pid_t child) {
  const auto deadline = Clock::now() + kReapLimit;
  int status = 0;
  ::kill(-child, SIGKILL);
  while (::waitpid(child, &status, WNOHANG) == 0 && Clock::now() < deadline)
    std::this_thread::sleep_for(kReapPause);
  return status;
}

}  // namespace

Status check_library(const fs::path& path) {
  KRL_TRY(check_content(path));
  std::vector<std::string> symbols;
  try {
    boost::dll::library_info info(path);
    symbols = info.symbols();
  } catch (const std::exception&) {  // its message is only that reading failed
    return invalid("is a damaged or incomplete ELF file; build or copy it again");
  }
  std::string other;
  for (const std::string& symbol : symbols) {
    if (symbol == KRL_PLUGIN_ENTRY) return {};
    if (symbol.rfind("krl_plugin_v", 0) == 0) other = symbol;
  }
  if (other.empty()) return invalid(no_entry());
  return invalid(fmt::format(
      "built for another version of the plugin boundary: it exports {}, this program requires {}; rebuild it with this version's SDK",
      one_line(other), KRL_PLUGIN_ENTRY));
}

Result<krl_plugin_entry> open_library(const fs::path& path) {
  // Never unloaded: static data of the plugin are referred to until the process ends. The list
  // keeps the libraries in sight of leak checkers.
  static auto& loaded = *new std::deque<boost::dll::shared_library>;
  boost::dll::shared_library library;
  std::error_code failed;
  const auto thrown = enter({path.native()}, "dlopen", [&] {
    library.load(path, failed, boost::dll::load_mode::rtld_now | boost::dll::load_mode::rtld_local);
  });
  if (thrown) return invalid("cannot be loaded: a constructor threw an exception: " + *thrown);
  if (failed) return invalid("cannot be loaded: " + linker_error(path));
  loaded.push_back(std::move(library));
  if (!loaded.back().has(KRL_PLUGIN_ENTRY)) return invalid(no_entry());
  const krl_plugin_entry entry =
      &loaded.back().get<const krl_plugin*(const krl_host*)>(KRL_PLUGIN_ENTRY);
  if (is_function(entry)) return entry;
  return invalid(fmt::format("exports {} as data, not as a function", KRL_PLUGIN_ENTRY));
}

Result<ChildEnd> run_in_child(const std::function<std::string()>& work, milliseconds limit,
                              ChildOutput output) {
  const auto cannot = [] {
    return failure(Code::kUnavailable,
                   fmt::format("cannot be tried in a separate process: {}", std::strerror(errno)));
  };
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return cannot();
  const auto deadline = Clock::now() + limit;
  const pid_t child = ::fork();
  if (child == 0) be_the_child(work, ends[1], output);
  Result<ChildEnd> result;
  if (child < 0) result = cannot();
  ::close(ends[1]);
  if (child > 0) {
    ::setpgid(child, child);  // whichever of the two is first
    read_report(ends[0], deadline, *result);
    result->status = reap(child);
  }
  ::close(ends[0]);
  return result;
}

Status rehearse(const std::function<void()>& load, milliseconds limit) {
  KRL_ASSIGN(const ChildEnd end, run_in_child(
                                     [&] {
                                       load();
                                       return std::string();
                                     },
                                     limit));
  if (end.report) return {};
  if (!end.in_time) {
    return invalid(fmt::format("did not return within {:g} s while it was being loaded",
                               std::chrono::duration<double>(limit).count()));
  }
  if (!WIFSIGNALED(end.status)) {
    return invalid(fmt::format("ended the process with exit code {} while it was being loaded",
                               WEXITSTATUS(end.status)));
  }
  const int signal = WTERMSIG(end.status);
  const char* const name = ::sigabbrev_np(signal);
  return invalid(
      fmt::format("crashed ({}) while it was being loaded",
                  name == nullptr ? fmt::format("signal {}", signal) : fmt::format("SIG{}", name)));
}

}  // namespace krl::core
