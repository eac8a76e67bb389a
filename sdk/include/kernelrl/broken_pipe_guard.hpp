// While it exists, writing to a closed pipe or connection fails with an error instead of SIGPIPE,
// which would end the host, on this thread and those started meanwhile. The host's handling of the
// signal is left unchanged, as plugins must not alter it. For one thread's stack.
// Header-only, C++17, no dependencies.
#pragma once

#include <csignal>
#include <ctime>

namespace krl {

class BrokenPipeGuard {
 public:
  BrokenPipeGuard() {
    ::sigemptyset(&pipe_);
    ::sigaddset(&pipe_, SIGPIPE);
    ::pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  ~BrokenPipeGuard() {
    if (::sigismember(&before_, SIGPIPE) == 1) return;
    const timespec at_once{0, 0};
    ::sigtimedwait(&pipe_, nullptr, &at_once);  // consumes a pending one
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  BrokenPipeGuard(const BrokenPipeGuard&) = delete;
  BrokenPipeGuard& operator=(const BrokenPipeGuard&) = delete;

 private:
  sigset_t pipe_{}, before_{};
};

}  // namespace krl
