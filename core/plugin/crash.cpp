#include "core/plugin/crash.hpp"

#include <dlfcn.h>
#include <signal.h>
#include <ucontext.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <exception>
#include <memory>
#include <mutex>

#include "core/base/log.hpp"
#include "core/base/text.hpp"
#include "core/plugin/active_call.hpp"

namespace krl::core {
namespace {

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

void* instruction_of(const void* context) {
  const mcontext_t& machine = static_cast<const ucontext_t*>(context)->uc_mcontext;
#if defined(__x86_64__)
  return reinterpret_cast<void*>(machine.gregs[REG_RIP]);
#elif defined(__aarch64__)
  return reinterpret_cast<void*>(machine.pc);
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

void add_line(FixedText& text, std::string_view lead, const ActiveCall& call) {
  text.add(lead);
  call.add_name(text);
  call.add_plugin(text);
  text.end_line();
}

// Adds the calls in progress. Returns false if there are none.
bool add_calls(FixedText& text) {
  bool any = false;
  ActiveCall::each_if_free([&](const ActiveCall& call) {
    any = true;
    add_line(text, "  under way: ", call);
  });
  return any;
}

void add_hint(FixedText& text) {
  // In glibc this is one atomic operation, which does not wait for a thread that may never
  // continue.
  if (!g_hint_mutex.try_lock()) return;
  if (!g_hint.view().empty()) text.add("  ").add(g_hint.view()).end_line();
  g_hint_mutex.unlock();
}

// Reports at most once in a process. The text is static: the stack may be an alternate one that a
// plugin or a sanitizer made small, and on some machines the kernel has already put 11 KB of
// registers on it.
void report_crash(int signal, const siginfo_t& info, const void* context) {
  const ActiveCall* const call = ActiveCall::of_this_thread();
  static FixedText text;
  Dl_info code{}, own{};
  if (is_of_instruction(signal, info)) ::dladdr(instruction_of(context), &code);
  ::dladdr(reinterpret_cast<void*>(&report_crash), &own);
  text.add("kernelrl: error: ");
  if (call != nullptr) {
    call->add_name(text);
  } else {
    text.add(code.dli_fbase == own.dli_fbase ? "kernelrl itself" : "a thread outside of any call");
  }
  text.add(reports() ? " crashed: " : " crashed in a process that it forked: ");
  add_signal(text, signal, info);
  if (code.dli_fname != nullptr && (call == nullptr || code.dli_fname != call->file()))
    text.add(", in ").add(code.dli_fname);
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

// A thread calls exit(). That is a plugin's doing if calls are in progress.
void look_at_exit() {
  if (!reports()) return;
  const ActiveCall* const call = ActiveCall::of_this_thread();
  FixedText text;
  text.add("kernelrl: error: ");
  if (call != nullptr) {
    call->add_name(text);
  } else {
    text.add("a thread outside of any call");
  }
  text.add(" called exit(), so kernelrl ends");
  if (call != nullptr) call->add_plugin(text);
  text.end_line();
  if (call == nullptr && !add_calls(text)) return;
  add_hint(text);
  write_last_words(text.view());
  std::fflush(stdout);  // output of plugins
  ::_exit(1);
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

// After an overflow of its stack a thread has no other place for the handler.
class SignalStack {
 public:
  SignalStack() {
    stack_t before{};
    if (::sigaltstack(nullptr, &before) != 0 || (before.ss_flags & SS_DISABLE) == 0) return;
    constexpr std::size_t kBytes = 64 * 1024;
    stack_.reset(new char[kBytes]);
    const stack_t stack{stack_.get(), 0, kBytes};
    ::sigaltstack(&stack, nullptr);
  }
  SignalStack(const SignalStack&) = delete;
  SignalStack& operator=(const SignalStack&) = delete;
  ~SignalStack() {
    if (stack_ == nullptr) return;
    stack_t none{};
    none.ss_flags = SS_DISABLE;
    ::sigaltstack(&none, nullptr);
  }

 private:
  std::unique_ptr<char[]> stack_;
};

}  // namespace

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

void report_crashes() {
  g_reporting = ::getpid();
  std::set_terminate(on_terminate);
  std::atexit(look_at_exit);
  for (const int signal : kFatal) report_signal(signal);
  guard_this_thread();
}

void guard_this_thread() {
  if (g_reporting.load(std::memory_order_relaxed) == 0) return;
  thread_local const SignalStack stack;
  static_cast<void>(stack);
}

void stop_reporting_crashes() {
  g_reporting = 0;
  std::set_terminate(std::abort);
  for (const int signal : kFatal) ::signal(signal, SIG_DFL);
}

}  // namespace krl::core
