#include "cli/stop_signals.hpp"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>

#include "cli/console.hpp"

namespace krl::cli {
namespace {

// Set by the handler; lock-free, so safe there.
std::atomic<bool> g_stop{false};
std::atomic<bool> g_cancel{false};
static_assert(std::atomic<bool>::is_always_lock_free);

// The handler may only write; the thread at the other end does the rest. -1: there is no listener.
std::atomic<int> g_write_end{-1};
static_assert(std::atomic<int>::is_always_lock_free);

constexpr char kFirst = 1, kSecond = 2, kOver = 3, kHangUp = 4;

constexpr std::chrono::seconds kPatience{2};  // after a request to end at once

void tell(char what) {
  const int descriptor = g_write_end;
  if (descriptor < 0) return;
  const int error = errno;
  static_cast<void>(!::write(descriptor, &what, 1));
  errno = error;
}

void set_handler(void (*handler)(int)) {
  struct sigaction action = {};
  action.sa_handler = handler;
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_RESTART;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

void on_hang_up(int) {
  if (!g_stop.exchange(true)) tell(kHangUp);
}

// The actions that the handlers of SIGHUP and SIGPIPE replaced.
struct sigaction g_before_hang_up, g_before_pipe;

// The program's two streams.
std::array<int, 2> g_streams{-1, -1};

// True if nobody is left to read the program's output.
bool is_unread(int descriptor) {
  pollfd stream{descriptor, POLLOUT, 0};
  return ::poll(&stream, 1, 0) > 0 && (stream.revents & (POLLERR | POLLHUP)) != 0;
}

// The pipe may be a plugin's own, which it should have guarded.
void on_broken_pipe(int signal, siginfo_t* info, void* context) {
  const int error = errno;
  if (is_unread(g_streams[0]) || is_unread(g_streams[1])) {
    on_hang_up(signal);
  } else if ((g_before_pipe.sa_flags & SA_SIGINFO) != 0) {
    g_before_pipe.sa_sigaction(signal, info, context);
  } else {
    ::signal(signal, SIG_DFL);
    ::raise(signal);
  }
  errno = error;
}

// Takes a signal over that is not ignored.
void take_over(int signal, const struct sigaction& action, struct sigaction& before) {
  ::sigaction(signal, nullptr, &before);
  if (before.sa_handler != SIG_IGN) ::sigaction(signal, &action, nullptr);
}

void take_hang_ups() {
  g_streams = {::fileno(output()), ::fileno(errors())};
  struct sigaction action = {};
  action.sa_handler = on_hang_up;
  action.sa_flags = SA_RESTART;
  take_over(SIGHUP, action, g_before_hang_up);
  action.sa_sigaction = on_broken_pipe;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  ::sigfillset(&action.sa_mask);  // as for a crash, which it may be
  take_over(SIGPIPE, action, g_before_pipe);
}

void on_signal(int) {
  if (!g_stop.exchange(true)) return tell(kFirst);
  g_cancel = true;
  tell(kSecond);
  set_handler(SIG_DFL);
}

// The next byte of the pipe; 0 if none comes in that time (-1: waits for ever), kOver at its end.
char next_byte(int read_end, std::chrono::milliseconds patience) {
  while (true) {
    pollfd ready{read_end, POLLIN, 0};
    const int count = ::poll(&ready, 1, static_cast<int>(patience.count()));
    if (count == 0) return 0;
    if (count < 0 && errno == EINTR) continue;
    char what = kOver;
    return count > 0 && ::read(read_end, &what, 1) == 1 ? what : kOver;
  }
}

void listen(int read_end, const StopSignals::Told& told) {
  std::chrono::milliseconds patience{-1};
  for (char what = 0; (what = next_byte(read_end, patience)) != kOver;) {
    if (what == kFirst) told(StopNews::kFirst);
    if (what == kHangUp) told(StopNews::kHangUp);
    if (what == kSecond) told(StopNews::kSecond);
    if (what == 0) told(StopNews::kStillRunning);
    if (what == 0) patience *= 2;
    if (what == kSecond) patience = kPatience;
  }
}

}  // namespace

StopSignals::StopSignals(Told told) {
  g_stop = false;
  g_cancel = false;
  int ends[2];
  if (told && ::pipe2(ends, O_CLOEXEC) == 0) {
    read_end_ = ends[0];
    g_write_end = write_end_ = ends[1];
    teller_ = std::thread([this, told = std::move(told)] { listen(read_end_, told); });
  }
  take_hang_ups();
  set_handler(on_signal);
}

StopSignals::~StopSignals() {
  set_handler(SIG_DFL);
  ::sigaction(SIGHUP, &g_before_hang_up, nullptr);
  ::sigaction(SIGPIPE, &g_before_pipe, nullptr);
  settle();
  for (const int end : {read_end_, write_end_})
    if (end >= 0) ::close(end);
}

void StopSignals::settle() {
  if (!teller_.joinable()) return;
  tell(kOver);
  g_write_end = -1;
  teller_.join();
}

const std::atomic<bool>& StopSignals::stop() { return g_stop; }
const std::atomic<bool>& StopSignals::cancel() { return g_cancel; }

}  // namespace krl::cli
