#include "core/plugin/rehearsal.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "core/plugin/crash.hpp"

namespace krl {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

// The whole life of the child. That it writes to `whole` is the sign that `load` has returned.
[[noreturn]] void be_the_rehearsal(const std::function<void()>& load, int whole) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // as it is in no terminal's group now
  const rlimit no_core{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  const int nowhere = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  for (const int stream : {0, 1, 2}) ::dup2(nowhere, stream);
  stop_reporting_crashes();
  load();
  ::_exit(::write(whole, "", 1) == 1 ? 0 : 1);
}

// Whether the child has ended before the deadline.
bool wait_for(pid_t child, Clock::time_point deadline) {
  const int handle = static_cast<int>(::syscall(SYS_pidfd_open, child, 0));
  bool ended = false;
  for (auto left = deadline - Clock::now(); !ended && left.count() > 0;
       left = deadline - Clock::now()) {
    pollfd end{handle, POLLIN, 0};
    ended = ::poll(&end, 1, static_cast<int>(std::chrono::ceil<milliseconds>(left).count())) > 0;
  }
  ::close(handle);
  return ended;
}

Status outcome(bool in_time, int status, milliseconds limit) {
  if (!in_time) {
    return invalid(fmt::format("did not return within {:g} s when it was loaded",
                               std::chrono::duration<double>(limit).count()));
  }
  if (WIFSIGNALED(status)) {
    const char* const name = ::sigabbrev_np(WTERMSIG(status));
    return invalid(fmt::format(
        "crashed ({}) while it was loaded",
        name == nullptr ? fmt::format("signal {}", WTERMSIG(status)) : fmt::format("SIG{}", name)));
  }
  return invalid(fmt::format("ended the process, with exit code {}, while it was loaded",
                             WEXITSTATUS(status)));
}

}  // namespace

Status rehearse(const std::function<void()>& load, milliseconds limit) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0)
    return failure(Code::kUnavailable, std::strerror(errno));
  const auto deadline = Clock::now() + limit;
  const pid_t child = ::fork();
  if (child == 0) be_the_rehearsal(load, ends[1]);
  Status status;
  if (child < 0) {
    status = failure(Code::kUnavailable, fmt::format("cannot be tried in a process of its own: {}",
                                                     std::strerror(errno)));
  } else {
    ::setpgid(child, child);  // whichever of the two is first
    const bool in_time = wait_for(child, deadline);
    ::kill(-child, SIGKILL);  // what it has started, too
    int how = 0;
    while (::waitpid(child, &how, 0) < 0 && errno == EINTR) {
    }
    char sign;
    if (::read(ends[0], &sign, 1) != 1) status = outcome(in_time, how, limit);
  }
  ::close(ends[0]);
  ::close(ends[1]);
  return status;
}

}  // namespace krl
