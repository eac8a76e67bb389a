#include "tests/broken/plugins/trouble.hpp"

#include <fcntl.h>
#include <unistd.h>
#include <atomic>

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

// Memory that is used, so that it counts.
void leak() { std::memset(std::malloc(8 * kMegabyte), 1, 8 * kMegabyte); }

void log_line(const krl_call* context, std::string_view text) {
  context->log(context, KRL_LOG_WARNING, krl::to_c(text));
}

void print() {
  std::printf("a stranger's line on standard output\n");
  std::fflush(stdout);
}

// What ends the process or never returns. Where there is no such defect, does nothing.
void end(std::string_view defect) {
  if (defect == "segfault") segfault();
  if (defect == "stack overflow") overflow_stack(1 << 30);
  if (defect == "double free") free_twice();
  if (defect == "abort") std::abort();
  if (defect == "exit 5") std::exit(5);
  if (defect == "exit 0") std::exit(0);
  if (defect == "quick exit") ::_exit(0);
  if (defect == "crash later") crash_later();
  if (defect == "hang") hang();
}

// What others notice.
void meddle(std::string_view defect) {
  if (defect == "fork") static_cast<void>(::fork());
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
  if (is("throw")) throw std::runtime_error("boom");
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
