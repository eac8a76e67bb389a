#include "plugins/process/subprocess.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <kernelrl/values.hpp>

namespace krl::process {
namespace {

using Clock = std::chrono::steady_clock;

// Above all numbers that a child may be given, so that no dup2 overwrites the source of a later
// one.
constexpr int kFirstFreeDescriptor = 32;
constexpr std::chrono::milliseconds kCancelPoll{50};

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (const std::string& text : texts) result.push_back(const_cast<char*>(text.c_str()));
  result.push_back(nullptr);
  return result;
}

// The arguments of posix_spawn, freed with it.
class SpawnPlan {
 public:
  explicit SpawnPlan(const Command& command) {
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawnattr_init(&attributes);
    add_descriptors(command);
    sigset_t none, all;
    ::sigemptyset(&none);
    ::sigfillset(&all);
    ::posix_spawnattr_setsigmask(&attributes, &none);
    ::posix_spawnattr_setsigdefault(&attributes, &all);
    ::posix_spawnattr_setpgroup(&attributes, 0);
    ::posix_spawnattr_setflags(
        &attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  }
  SpawnPlan(const SpawnPlan&) = delete;
  ~SpawnPlan() {
    ::posix_spawn_file_actions_destroy(&actions);
    ::posix_spawnattr_destroy(&attributes);
  }

  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;

 private:
  void add_descriptors(const Command& command) {
    int highest = 2;
    std::vector<int> named;
    for (const auto& [ours, theirs] : command.descriptors) {
      sources_.emplace_back(::fcntl(ours, F_DUPFD_CLOEXEC, kFirstFreeDescriptor));
      if (!sources_.back()) {
        throw Failure(KRL_UNAVAILABLE, std::string("cannot open a descriptor for a worker: ") +
                                           std::strerror(errno));
      }
      ::posix_spawn_file_actions_adddup2(&actions, sources_.back().get(), theirs);
      named.push_back(theirs);
      highest = std::max(highest, theirs);
    }
    for (int standard = 0; standard <= 2; ++standard) {
      if (std::find(named.begin(), named.end(), standard) != named.end()) continue;
      ::posix_spawn_file_actions_addopen(&actions, standard, "/dev/null",
                                         standard == 0 ? O_RDONLY : O_WRONLY, 0);
    }
    ::posix_spawn_file_actions_addclosefrom_np(&actions, highest + 1);
  }

  std::vector<Descriptor> sources_;
};

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

}  // namespace

std::string Ending::description() const {
  if (asleep) return "was killed while idle";
  if (deadline) return "was killed after " + std::to_string(wall_seconds) + " s";
  if (cancelled) return "was cancelled";
  if (signal != 0) {
    const char* name = ::strsignal(signal);
    return "was killed by signal " + std::to_string(signal) + " (" + (name ? name : "?") + ")";
  }
  return "ended with code " + std::to_string(exit_code);
}

std::chrono::nanoseconds time_asleep(pid_t process, std::chrono::nanoseconds wall) {
  std::ifstream times("/proc/" + std::to_string(process) + "/schedstat");
  std::int64_t ran = 0, waited = 0;
  if (!(times >> ran >> waited)) return {};
  return std::max(wall - std::chrono::nanoseconds(ran + waited), std::chrono::nanoseconds());
}

Subprocess::Subprocess(const Command& command) : start_(Clock::now()) {
  const SpawnPlan plan(command);
  const std::vector<char*> arguments = pointers(command.arguments);
  const std::vector<char*> environment = pointers(command.environment);
  const int error = ::posix_spawn(&id_, arguments[0], &plan.actions, &plan.attributes,
                                  arguments.data(), environment.data());
  if (error != 0) {
    id_ = -1;
    throw Failure(KRL_UNAVAILABLE,
                  "starting " + command.arguments[0] + ": " + std::strerror(error));
  }
  handle_ = Descriptor(static_cast<int>(::syscall(SYS_pidfd_open, id_, 0)));
}

Subprocess::~Subprocess() { kill(); }

bool Subprocess::running() { return !ending_ && !reap(false); }

void Subprocess::kill() {
  if (ending_) return;
  ::kill(-id_, SIGKILL);
  reap(true);
}

void Subprocess::pause() {
  if (!ending_) ::kill(-id_, SIGSTOP);
}

void Subprocess::resume() {
  if (!ending_) ::kill(-id_, SIGCONT);
}

// Collects the child if it has ended. Before its id is given back to the system the rest of its
// group is killed, so that the group's number still means this group.
bool Subprocess::reap(bool block) {
  siginfo_t info{};
  const int flags = WEXITED | WNOWAIT | (block ? 0 : WNOHANG);
  while (::waitid(P_PID, static_cast<id_t>(id_), &info, flags) != 0 && errno == EINTR) {
  }
  if (info.si_pid != id_) return false;
  ::kill(-id_, SIGKILL);
  int status = 0;
  rusage usage{};
  while (::wait4(id_, &status, 0, &usage) < 0 && errno == EINTR) {
  }
  Ending ending;
  if (WIFEXITED(status)) ending.exit_code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) ending.signal = WTERMSIG(status);
  ending.cpu_seconds = seconds(usage.ru_utime) + seconds(usage.ru_stime);
  ending.wall_seconds = std::chrono::duration<double>(Clock::now() - start_).count();
  ending_ = ending;
  return true;
}

Ending Subprocess::wait(std::chrono::milliseconds limit, const std::function<bool()>& cancelled,
                        std::optional<std::chrono::milliseconds> most_sleep) {
  const Clock::time_point deadline = start_ + limit;
  bool timed_out = false, stopped = false, asleep = false;
  while (!ending_ && !reap(false)) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
    timed_out = left.count() <= 0;
    stopped = !timed_out && cancelled && cancelled();
    asleep = !timed_out && !stopped && most_sleep &&
             time_asleep(id_, Clock::now() - start_) > *most_sleep;
    if (timed_out || stopped || asleep) {
      kill();
      break;
    }
    pollfd ended{handle_.get(), POLLIN, 0};
    const auto slice = handle_ ? kCancelPoll : std::chrono::milliseconds(2);
    ::poll(handle_ ? &ended : nullptr, handle_ ? 1 : 0,
           static_cast<int>(std::min<std::chrono::milliseconds>(left, slice).count()));
  }
  ending_->deadline = timed_out;
  ending_->cancelled = stopped;
  ending_->asleep = asleep;
  return *ending_;
}

}  // namespace krl::process
