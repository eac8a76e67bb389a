#include "core/plugin/crash.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <exception>
#include <memory>
#include <mutex>

#include "core/base/log.hpp"
#include "core/plugin/active_call.hpp"

namespace krl::core {
namespace {

// The path of the line "from-to rwxp offset device inode   /path" if it spans the address.
std::string_view path_in(std::string_view line, std::uintptr_t address) {
  const char* const end = line.data() + line.size();
  std::uintptr_t first = 0, last = 0;
  const auto from = std::from_chars(line.data(), end, first, 16);
  if (from.ptr == end || *from.ptr != '-') return {};
  std::from_chars(from.ptr + 1, end, last, 16);
  if (address < first || address >= last) return {};
  return line.substr(std::min(line.find('/'), line.size()));
}

std::atomic<int> g_stream{-1};
std::mutex g_hint_mutex;
FixedText g_hint;  // under g_hint_mutex

constexpr std::array kFatal{SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGSYS, SIGTRAP, SIGPIPE};

// The process that reports, 0 before and after. The children of a plugin's fork() or vfork() are
// others, and may end as they like.
std::atomic<pid_t> g_reporting{0};
std::atomic_flag g_reported = ATOMIC_FLAG_INIT;  // the first of several is the cause

// The reason why std::terminate was called. Written by the thread that aborts.
FixedText g_uncaught;

bool reports() { return g_reporting != 0 && g_reporting == ::getpid(); }

// Raised by the instruction that it came from, which raises it again when it is run again.
bool is_of_instruction(int signal, const siginfo_t& info) {
  const bool faults = signal == SIGSEGV || signal == SIGBUS || signal == SIGFPE || signal == SIGILL;
  return faults && info.si_code > 0;
}

std::uintptr_t instruction_of(const void* context) {
  const mcontext_t& machine = static_cast<const ucontext_t*>(context)->uc_mcontext;
#if defined(__x86_64__)
  return static_cast<std::uintptr_t>(machine.gregs[REG_RIP]);
#elif defined(__aarch64__)
  return machine.pc;
#else
#error "which register holds the address of the instruction?"
#endif
}

void add_signal(FixedText& text, int signal, const siginfo_t& info) {
  text.add("SIG").add(::sigabbrev_np(signal));
  if (is_of_instruction(signal, info)) {
    text.add(" at address 0x").add(reinterpret_cast<std::uintptr_t>(info.si_addr), 16);
  } else if (info.si_code == SI_USER && info.si_pid != ::getpid()) {
    text.add(", sent by process ").add(static_cast<std::uint64_t>(info.si_pid));
  }
  if (signal == SIGABRT && !g_uncaught.view().empty()) text.add(", ").add(g_uncaught.view());
}

std::string_view own_program(char (&buffer)[PATH_MAX]) {
  const ssize_t size = ::readlink("/proc/self/exe", buffer, sizeof buffer);
  return {buffer, static_cast<std::size_t>(std::max<ssize_t>(size, 0))};
}

void add_line(FixedText& text, std::string_view lead, const ActiveCall& call) {
  text.add(lead);
  call.add_name(text);
  call.add_plugin(text);
  text.end_line();
}

// Adds the calls in progress. Returns false if there are none.
bool add_calls(FixedText& text) {
  bool any = false;
  const ActiveCalls calls(ActiveCalls::Patience::kLittle);
  calls.each([&](const ActiveCall& call) {
    any = true;
    add_line(text, "  under way: ", call);
  });
  return any;
}

// Reports at most once in a process. Large objects are static: the stack may be an alternate one
// that a plugin or a sanitizer made small, and on some machines the kernel has already put 11 KB of
// registers on it.
void report_crash(int signal, const siginfo_t& info, const void* context) {
  const ActiveCall* const call = ActiveCall::of_this_thread();
  static char code_buffer[PATH_MAX], own_buffer[PATH_MAX];
  static FixedText text;
  const std::string_view code = file_at(instruction_of(context), code_buffer);
  text.add("kernelrl: error: ");
  if (call != nullptr) {
    call->add_name(text);
  } else {
    text.add(code == own_program(own_buffer) ? "kernelrl itself" : "a thread outside of any call");
  }
  text.add(reports() ? " crashed: " : " crashed in a process that it forked: ");
  add_signal(text, signal, info);
  const bool own = call != nullptr && code == call->file();
  if (!code.empty() && !own && is_of_instruction(signal, info)) text.add(", in ").add(code);
  if (call != nullptr) call->add_plugin(text);
  text.end_line();
  if (call == nullptr) {
    add_calls(text);
  } else {
    for (const ActiveCall* c = call->outer(); c != nullptr; c = c->outer())
      add_line(text, "  from inside ", *c);
  }
  if (reports()) add_hint(text);
  write_last_words(text.view());
}

void on_fatal_signal(int signal, siginfo_t* info, void* context) {
  const int error = errno;
  // A broken pipe outside of a call is that of the program's own output: `kernelrl … | head`.
  const bool silent = signal == SIGPIPE && ActiveCall::of_this_thread() == nullptr;
  if (!silent && !g_reported.test_and_set()) {
    report_crash(signal, *info, context);
  } else if (!silent) {
    constexpr timespec kUntilTheOtherEnds{5, 0};
    ::nanosleep(&kUntilTheOtherEnds, nullptr);
  }
  // The default action follows, from the very place where the signal came: for a debugger, too.
  ::signal(signal, SIG_DFL);
  if (!is_of_instruction(signal, *info)) ::raise(signal);
  errno = error;
}

[[noreturn]] void on_terminate() {
  static std::atomic_flag first = ATOMIC_FLAG_INIT;
  if (!first.test_and_set()) {
    try {
      if (std::current_exception()) throw;
      g_uncaught.add("std::terminate was called");
    } catch (const std::exception& e) {
      g_uncaught.add("an uncaught exception: ").add(e.what());
    } catch (...) {
      g_uncaught.add("an uncaught exception");
    }
  }
  std::abort();
}

[[noreturn]] void end_process(FixedText& text) {
  add_hint(text);
  write_last_words(text.view());
  std::fflush(stdout);  // output of plugins
  g_reporting = 0;
  ::_exit(1);
}

[[noreturn]] void end_process(const ActiveCall& call, std::string_view how) {
  FixedText text;
  text.add("kernelrl: error: ");
  call.add_name(text);
  text.add(how).add(", so kernelrl ends");
  call.add_plugin(text);
  end_process(text.end_line());
}

void report_signal(int signal) {
  struct sigaction before {};
  ::sigaction(signal, nullptr, &before);
  if ((before.sa_flags & SA_SIGINFO) != 0 || before.sa_handler != SIG_DFL) return;
  struct sigaction action {};
  action.sa_sigaction = on_fatal_signal;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  ::sigfillset(&action.sa_mask);  // a second crash inside the handler ends the process
  ::sigaction(signal, &action, nullptr);
}

// Tracks what happens to a thread in the course of calls.
class ThreadGuard {
 public:
  ThreadGuard() {
    stack_t before{};
    if (::sigaltstack(nullptr, &before) != 0 || (before.ss_flags & SS_DISABLE) == 0) return;
    // After an overflow of its stack a thread has no other place for the handler.
    constexpr std::size_t kBytes = 64 * 1024;
    stack_.reset(new char[kBytes]);
    const stack_t stack{stack_.get(), 0, kBytes};
    ::sigaltstack(&stack, nullptr);
  }
  ThreadGuard(const ThreadGuard&) = delete;
  ThreadGuard& operator=(const ThreadGuard&) = delete;

  // exit() destroys the calling thread's local objects before all static ones.
  ~ThreadGuard() {
    const ActiveCall* const call = ActiveCall::of_this_thread();
    if (call != nullptr && reports()) end_process(*call, " called exit()");
    if (stack_ == nullptr) return;
    stack_t none{};
    none.ss_flags = SS_DISABLE;
    ::sigaltstack(&none, nullptr);
  }

 private:
  std::unique_ptr<char[]> stack_;
};

// The process ends by this thread. That is a plugin's doing if calls are in progress.
void look_at_end(std::string_view how) {
  if (!reports()) return;
  if (const ActiveCall* const call = ActiveCall::of_this_thread()) end_process(*call, how);
  FixedText text;
  text.add("kernelrl: error: a thread outside of any call").add(how).add(", so kernelrl ends");
  if (add_calls(text.end_line())) end_process(text);
}

}  // namespace

std::string_view file_at(std::uintptr_t address, char (&buffer)[PATH_MAX]) {
  const int maps = ::open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
  if (maps < 0) return {};
  std::string_view path;
  std::size_t size = 0;
  for (ssize_t n; path.empty() && (n = ::read(maps, buffer + size, sizeof buffer - size)) > 0;) {
    size += static_cast<std::size_t>(n);
    std::string_view rest(buffer, size);
    for (std::size_t at; path.empty() && (at = rest.find('\n')) != rest.npos;
         rest.remove_prefix(at + 1)) {
      path = path_in(rest.substr(0, at), address);
    }
    if (!path.empty()) break;
    size = static_cast<std::size_t>(std::copy(rest.begin(), rest.end(), buffer) - buffer);
  }
  ::close(maps);
  return path;
}

void write_last_words(std::string_view lines) {
  std::string_view rest = lines;
  for (ssize_t n; !rest.empty() && (n = ::write(g_stream, rest.data(), rest.size())) > 0;)
    rest.remove_prefix(static_cast<std::size_t>(n));
  log_last_words(lines);
}

void set_last_words_stream(int descriptor) { g_stream = descriptor; }

void set_last_words_hint(std::string_view hint) {
  const std::lock_guard lock(g_hint_mutex);
  g_hint = FixedText().add(hint);
}

void add_hint(FixedText& text) {
  // In glibc this is one atomic operation, which does not wait for a thread that may never
  // continue.
  if (!g_hint_mutex.try_lock()) return;
  if (!g_hint.view().empty()) text.add("  ").add(g_hint.view()).end_line();
  g_hint_mutex.unlock();
}

void report_crashes() {
  g_reporting = ::getpid();
  std::set_terminate(on_terminate);
  std::atexit([] { look_at_end(" called exit()"); });  // called by a thread without a ThreadGuard
  ::at_quick_exit([] { look_at_end(" called quick_exit()"); });
  for (const int signal : kFatal) report_signal(signal);
  guard_this_thread();
}

void guard_this_thread() {
  if (g_reporting.load(std::memory_order_relaxed) == 0) return;
  thread_local const ThreadGuard guard;
  static_cast<void>(guard);
}

void stop_reporting_crashes() {
  g_reporting = 0;
  std::set_terminate(std::abort);
  for (const int signal : kFatal) ::signal(signal, SIG_DFL);
}

void end_with_thread(const ActiveCall& call) {
  end_process(call, " ended the thread of the call with pthread_exit()");
}

}  // namespace krl::core

// The program's functions are found before those of the C library, by plugins too; the library
// itself does not use them. Sanitizers have their own.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
extern "C" {

void _exit(int status) {
  krl::core::look_at_end(" called _exit()");
  for (;;) ::syscall(SYS_exit_group, status);
}

void _Exit(int status) noexcept { ::_exit(status); }

}  // extern "C"
#endif
