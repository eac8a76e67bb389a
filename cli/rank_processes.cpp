#include "cli/rank_processes.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <optional>

#include "cli/console.hpp"

namespace krl::cli {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kGrace{30};  // between asking a rank to end and killing it
constexpr std::array kForwarded{SIGINT, SIGTERM, SIGHUP};

// Passes on the output of a process on one of its streams, line by line.
class PrefixedStream {
 public:
  PrefixedStream(int descriptor, std::string prefix, void (*print)(std::string_view))
      : descriptor_(descriptor), prefix_(std::move(prefix)), print_(print) {}

  int descriptor() const { return descriptor_; }  // -1 once it has ended

  // Prints the whole lines of the available output.
  void read_some() {
    char chunk[1 << 14];
    const ssize_t n = ::read(descriptor_, chunk, sizeof chunk);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (n <= 0) return end();
    rest_.append(chunk, static_cast<std::size_t>(n));
    std::string lines;
    std::size_t begin = 0;
    for (std::size_t at; (at = rest_.find('\n', begin)) != std::string::npos; begin = at + 1) {
      lines += prefix_ + rest_.substr(begin, at + 1 - begin);
    }
    rest_.erase(0, begin);
    if (!lines.empty()) print_(lines);
  }

  // Prints the rest; a process that outlives its rank may still hold the other end.
  void end() {
    if (!rest_.empty()) print_(prefix_ + rest_ + "\n");
    rest_.clear();
    if (descriptor_ >= 0) ::close(descriptor_);
    descriptor_ = -1;
  }

 private:
  int descriptor_;
  std::string prefix_, rest_;
  void (*print_)(std::string_view);
};

struct RankProcess {
  pid_t pid = -1;
  bool running = false;
};

[[noreturn]] void be_rank(int rank, int ranks, int port, const Words& words, int out, int err,
                          const sigset_t& signals) {
  ::setpgid(0, 0);  // a terminal's signals reach it through the launcher alone
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  ::sigprocmask(SIG_UNBLOCK, &signals, nullptr);
  const int nowhere = ::open("/dev/null", O_RDONLY);
  ::dup2(nowhere, STDIN_FILENO);
  ::dup2(out, STDOUT_FILENO);
  ::dup2(err, STDERR_FILENO);
  const auto set = [](const char* name, const std::string& value) {
    ::setenv(name, value.c_str(), /*overwrite=*/1);
  };
  set("RANK", std::to_string(rank));
  set("LOCAL_RANK", std::to_string(rank));
  set("WORLD_SIZE", std::to_string(ranks));
  set("LOCAL_WORLD_SIZE", std::to_string(ranks));
  set("MASTER_ADDR", "127.0.0.1");
  set("MASTER_PORT", std::to_string(port));
  std::vector<char*> arguments = {const_cast<char*>("kernelrl")};
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  ::execv("/proc/self/exe", arguments.data());
  ::_exit(kRunFailed);
}

class Launch {
 public:
  Launch() {
    sigemptyset(&signals_);
    for (const int signal : kForwarded) sigaddset(&signals_, signal);
    sigaddset(&signals_, SIGCHLD);
    sigaddset(&signals_, SIGPIPE);  // the ranks end as if the terminal had been closed
    ::sigprocmask(SIG_BLOCK, &signals_, nullptr);
    signal_descriptor_ = ::signalfd(-1, &signals_, SFD_CLOEXEC | SFD_NONBLOCK);
  }
  ~Launch() {
    ::close(signal_descriptor_);
    ::sigprocmask(SIG_UNBLOCK, &signals_, nullptr);
  }
  Launch(const Launch&) = delete;
  Launch& operator=(const Launch&) = delete;

  // False if the system has no room for it.
  bool start(int rank, int ranks, int port, const Words& words) {
    int out[2], err[2];
    if (::pipe2(out, O_CLOEXEC) != 0) return false;
    if (::pipe2(err, O_CLOEXEC) != 0) return ::close(out[0]), ::close(out[1]), false;
    const pid_t pid = ::fork();
    if (pid == 0) be_rank(rank, ranks, port, words, out[1], err[1], signals_);
    ::close(out[1]);
    ::close(err[1]);
    const std::string prefix = "[" + std::to_string(rank) + "] ";
    streams_.emplace_back(out[0], prefix, print);
    streams_.emplace_back(err[0], prefix, print_error);
    for (const int end : {out[0], err[0]}) ::fcntl(end, F_SETFL, O_NONBLOCK);
    if (pid < 0) return false;
    ::setpgid(pid, pid);  // whichever of the two is first
    ranks_.push_back({pid, true});
    return true;
  }

  // Until all have ended; the exit code.
  int wait() {
    while (any_running()) {
      wait_for_something();
      take_signals();
      for (PrefixedStream& stream : streams_) {
        if (stream.descriptor() >= 0) stream.read_some();
      }
      if (deadline_ && Clock::now() >= *deadline_) send(SIGKILL);
    }
    for (PrefixedStream& stream : streams_) {
      if (stream.descriptor() >= 0) stream.read_some();
      stream.end();
    }
    return exit_code_;
  }

  void fail(const std::string& what) {
    print_error("kernelrl: error: " + what + "\n");
    if (exit_code_ == kDone) exit_code_ = kRunFailed;
    end_all();
  }

 private:
  bool any_running() const {
    for (const RankProcess& rank : ranks_) {
      if (rank.running) return true;
    }
    return false;
  }

  void wait_for_something() const {
    std::vector<pollfd> waits = {{signal_descriptor_, POLLIN, 0}};
    for (const PrefixedStream& stream : streams_) {
      if (stream.descriptor() >= 0) waits.push_back({stream.descriptor(), POLLIN, 0});
    }
    int limit = -1;
    if (deadline_) {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(*deadline_ - Clock::now());
      limit = std::max(10, static_cast<int>(left.count()));
    }
    ::poll(waits.data(), waits.size(), limit);
  }

  void take_signals() {
    signalfd_siginfo info;
    while (::read(signal_descriptor_, &info, sizeof info) == sizeof info) {
      if (info.ssi_signo == SIGCHLD) continue;
      send(info.ssi_signo == SIGPIPE ? SIGHUP : static_cast<int>(info.ssi_signo));
    }
    int status = 0;
    for (pid_t pid; (pid = ::waitpid(-1, &status, WNOHANG)) > 0;) ended(pid, status);
  }

  void ended(pid_t pid, int status) {
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
      if (ranks_[rank].pid != pid) continue;
      ranks_[rank].running = false;
      const bool killed = WIFSIGNALED(status);
      const int code = killed ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
      if (code == kDone || exit_code_ != kDone) return;
      exit_code_ = code;
      // A rank that ended by itself has reported why.
      if (killed) {
        print_error("kernelrl: rank " + std::to_string(rank) + " was killed by signal " +
                    std::to_string(WTERMSIG(status)) + " (" + ::strsignal(WTERMSIG(status)) +
                    ")\n");
      }
      end_all();
    }
  }

  void end_all() {
    send(SIGTERM);
    deadline_ = Clock::now() + kGrace;
  }

  void send(int signal) const {
    for (const RankProcess& rank : ranks_) {
      if (rank.running) ::kill(rank.pid, signal);
    }
  }

  sigset_t signals_;
  int signal_descriptor_;
  std::vector<RankProcess> ranks_;
  std::vector<PrefixedStream> streams_;
  std::optional<Clock::time_point> deadline_;  // time at which to kill those still running
  int exit_code_ = kDone;
};

}  // namespace

int run_ranks(int ranks, int port, const Words& words) {
  Launch launch;
  for (int rank = 0; rank < ranks; ++rank) {
    if (launch.start(rank, ranks, port, words)) continue;
    launch.fail("rank " + std::to_string(rank) + " cannot be started: " + std::strerror(errno));
    break;
  }
  return launch.wait();
}

}  // namespace krl::cli
