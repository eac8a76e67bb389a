#include "tests/broken/plugins/trouble.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <clocale>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <thread>

namespace broken {
namespace {

using std::chrono::milliseconds;

// A line of a log as kernelrl writes them, an escape code, and bytes that are no UTF-8.
constexpr std::string_view kForged =
    "one\n[2026-01-01 00:00:00.000] [error] forged line\x1b[31mred\x1b[0m \xff\xfe";

void segfault() {
  volatile int* volatile nowhere = nullptr;  // the compiler may not know
  *nowhere = 1;
}

[[gnu::noinline]] void boom() { throw std::runtime_error("boom"); }

int overflow_stack(int depth) {  // the depth is one that no stack has
  volatile char frame[4096] = {};
  return depth == 0 ? 0 : overflow_stack(depth - 1) + frame[depth % 4096];
}

// glibc notices it, and aborts.
void free_twice() {
  void* volatile block = std::malloc(24);
  std::free(block);
  std::free(block);
}

// In a thread of its own, when the call is over. The next call waits for that, lest the run end
// first.
void crash_later() {
  static std::atomic<bool> begun{false};
  while (begun.exchange(true)) std::this_thread::sleep_for(milliseconds(1));
  std::thread([] {
    std::this_thread::sleep_for(milliseconds(1));
    segfault();
  }).detach();
}

// Whoever waits for a call that lasts sees the file in the current folder.
void say_that_it_lasts() { std::ofstream("lasting") << "now"; }

[[noreturn]] void hang() {
  say_that_it_lasts();
  while (true) std::this_thread::sleep_for(milliseconds(1));
}

// Runs `function` on a thread of its own; the call itself lasts.
template <class Function>
[[noreturn]] void on_thread_of_its_own(const Function& function) {
  std::thread(function).detach();
  hang();
}

// Gives the thread an alternate signal stack as small as other languages' runtimes do: 16 KiB
// beyond what the kernel needs, above a page that faults.
void use_small_signal_stack() {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  const std::size_t size = 16 * 1024 + static_cast<std::size_t>(::sysconf(_SC_MINSIGSTKSZ));
  void* const memory =
      ::mmap(nullptr, page + size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED || ::mprotect(memory, page, PROT_NONE) != 0) std::abort();
  const stack_t stack{static_cast<char*>(memory) + page, 0, size};
  if (::sigaltstack(&stack, nullptr) != 0) std::abort();
}

void write_to_nobody() {
  int ends[2];
  if (::pipe(ends) != 0) std::abort();
  ::close(ends[0]);
  if (::write(ends[1], "", 1) != 1) std::abort();
}

// Memory that is used, so that it counts.
void leak() { std::memset(std::malloc(8 * kMegabyte), 1, 8 * kMegabyte); }

void log_line(const krl_call* context, std::string_view text) {
  context->log(context, KRL_LOG_WARNING, krl::to_c(text));
}

void print() {
  std::printf("a stranger's line on standard output\n");
  std::fflush(stdout);
  if (std::system("echo a line of its child") != 0) std::abort();
}

// What ends the process or never returns. Where there is no such defect, does nothing.
void end(std::string_view defect) {
  if (defect == "segfault") segfault();
  if (defect == "stack overflow") overflow_stack(1 << 30);
  if (defect == "double free") free_twice();
  if (defect == "abort") std::abort();
  if (defect == "exit 5") std::exit(5);
  if (defect == "exit 0") std::exit(0);
  if (defect == "throw in noexcept") []() noexcept { boom(); }();
  if (defect == "broken pipe") write_to_nobody();
  if (defect == "thread throws") on_thread_of_its_own(boom);
  if (defect == "thread exits") on_thread_of_its_own([] { std::exit(5); });
  if (defect == "thread with a small signal stack") {
    on_thread_of_its_own([] {
      use_small_signal_stack();
      boom();
    });
  }
  if (defect == "crash later") crash_later();
  if (defect == "hang") hang();
}

// What others notice.
void meddle(std::string_view defect) {
  if (defect == "fork") static_cast<void>(::fork());
  if (defect == "fork and exec" && ::fork() == 0) ::execlp("true", "true", nullptr);
  if (defect == "fork and exit" && ::fork() == 0) std::exit(0);
  if (defect == "vfork and _exit" && ::vfork() == 0) ::_exit(0);
  if (defect == "leak") leak();
  if (defect == "locale") std::setlocale(LC_ALL, "C.UTF-8");
  if (defect == "chdir") static_cast<void>(::chdir("/"));
  if (defect == "ignore signals") std::signal(SIGINT, SIG_IGN);
  if (defect == "print") print();
  if (defect == "slow") std::this_thread::sleep_for(milliseconds(20));
}

}  // namespace

void Trouble::enter(std::string_view function) {
  now_ = {};
  if (function != at || std::getenv("KERNELRL_TEST_REPAIRED") != nullptr) return;
  const std::int64_t call = ++calls_;
  if (call >= from && (times == 0 || call < from + times)) now_ = defect;
}

std::optional<krl_status> Trouble::misbehave(const krl_call* context) const {
  end(now_);
  meddle(now_);
  if (is("throw")) boom();
  if (is("throw int")) throw 42;
  if (is("long log line")) log_line(context, std::string(50 * kMegabyte, 'x'));
  if (is("forged log line")) log_line(context, kForged);
  if (is("bad reason")) return context->fail(context, KRL_INTERNAL, krl::to_c(kForged));
  if (is("unavailable")) return context->fail(context, KRL_UNAVAILABLE, krl::to_c("server away"));
  if (is("refused")) return context->fail(context, KRL_INVALID_ARGUMENT, krl::to_c("I refuse"));
  if (is("unknown status")) return 4711;
  if (is("no reason")) return KRL_INTERNAL;
  if (is("fails with OK")) return context->fail(context, KRL_OK, krl::to_c("failed well"));
  if (is("until cancelled")) {
    say_that_it_lasts();
    while (context->cancelled(context) == 0) std::this_thread::sleep_for(milliseconds(1));
    return KRL_CANCELLED;
  }
  if (is("returns early")) return KRL_OK;  // without any result
  return std::nullopt;
}

}  // namespace broken
