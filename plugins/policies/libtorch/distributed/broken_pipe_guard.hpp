// While it lives, a write to a rank that is gone is an error on this thread and on those that are
// started meanwhile, not the signal that ends a process: Gloo asks for SIGPIPE, and a plugin must
// not change what the host's process does with it. On one thread's stack.
#pragma once

#include <csignal>
#include <ctime>

namespace krl::libtorch {

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

}  // namespace krl::libtorch
