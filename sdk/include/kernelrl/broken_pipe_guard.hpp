// While it lives, a write to a process or a machine that is gone is an error on this thread and on
// those that are started meanwhile, not SIGPIPE, which would end the host: what the host's process
// does with that signal is not for a plugin to change. On one thread's stack.
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
    ::sigtimedwait(&pipe_, nullptr, &at_once);  // takes one away that came
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  BrokenPipeGuard(const BrokenPipeGuard&) = delete;
  BrokenPipeGuard& operator=(const BrokenPipeGuard&) = delete;

 private:
  sigset_t pipe_{}, before_{};
};

}  // namespace krl
