#include "core/plugin/rehearsal.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
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

// Waits until the child has written, or has closed its end as all do that end.
void wait_for_sign(int whole, Clock::time_point deadline) {
  for (auto left = deadline - Clock::now(); left.count() > 0; left = deadline - Clock::now()) {
    pollfd sign{whole, POLLIN, 0};
    const auto pause = std::chrono::ceil<milliseconds>(left);
    if (::poll(&sign, 1, static_cast<int>(pause.count())) > 0) return;
  }
}

// `status`: of the child, which has been killed if it still ran.
Status outcome(int status, milliseconds limit) {
  if (!WIFSIGNALED(status)) {
    return invalid(fmt::format("ended the process, with exit code {}, while it was loaded",
                               WEXITSTATUS(status)));
  }
  if (WTERMSIG(status) == SIGKILL) {
    return invalid(fmt::format("did not return within {:g} s when it was loaded",
                               std::chrono::duration<double>(limit).count()));
  }
  const char* const name = ::sigabbrev_np(WTERMSIG(status));
  return invalid(fmt::format(
      "crashed ({}) while it was loaded",
      name == nullptr ? fmt::format("signal {}", WTERMSIG(status)) : fmt::format("SIG{}", name)));
}

// Ends the child, which is known to the parent by `whole`.
Status end_rehearsal(pid_t child, int whole, milliseconds limit) {
  ::kill(-child, SIGKILL);  // what it has started, too
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  char sign;
  return ::read(whole, &sign, 1) == 1 ? Status() : outcome(status, limit);
}

}  // namespace

Status rehearse(const std::function<void()>& load, milliseconds limit) {
  const auto cannot = [] {
    return failure(Code::kUnavailable, fmt::format("cannot be tried in a process of its own: {}",
                                                   std::strerror(errno)));
  };
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) return cannot();
  const auto deadline = Clock::now() + limit;
  const pid_t child = ::fork();
  if (child == 0) be_the_rehearsal(load, ends[1]);
  Status status;
  if (child < 0) status = cannot();
  ::close(ends[1]);
  if (child > 0) {
    ::setpgid(child, child);  // whichever of the two is first
    wait_for_sign(ends[0], deadline);
    status = end_rehearsal(child, ends[0], limit);
  }
  ::close(ends[0]);
  return status;
}

}  // namespace krl
