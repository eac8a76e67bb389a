#include "core/app/stop_signals.hpp"

#include <csignal>

namespace krl {
namespace {

// Set by the handler; lock-free, so safe there.
std::atomic<bool> g_stop{false};
std::atomic<bool> g_cancel{false};
static_assert(std::atomic<bool>::is_always_lock_free);

void set_handler(void (*handler)(int)) {
  struct sigaction action = {};
  action.sa_handler = handler;
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_RESTART;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

void on_signal(int) {
  if (!g_stop.exchange(true)) return;
  g_cancel = true;
  set_handler(SIG_DFL);
}

}  // namespace

StopSignals::StopSignals() {
  g_stop = false;
  g_cancel = false;
  set_handler(on_signal);
}

StopSignals::~StopSignals() { set_handler(SIG_DFL); }

const std::atomic<bool>& StopSignals::stop() { return g_stop; }
const std::atomic<bool>& StopSignals::cancel() { return g_cancel; }

}  // namespace krl
