// Ranks as processes of this machine, for tests. One thread.
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <exception>
#include <functional>
#include <vector>

#include "plugins/policies/libtorch/distributed/rank_environment.hpp"

namespace krl::libtorch {

// What a rank does. It may throw.
using RankWork = std::function<void(const RankEnvironment& ranks)>;

// A port of this machine without a listener.
inline int free_port() {
  const int probe = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  ::bind(probe, reinterpret_cast<sockaddr*>(&address), size);
  ::getsockname(probe, reinterpret_cast<sockaddr*>(&address), &size);
  ::close(probe);
  return ntohs(address.sin_port);
}

// `size` children of this process, each with its work. Killed with this object.
class RankProcesses {
 public:
  RankProcesses(int size, const RankWork& work) {
    const int port = free_port();
    for (int rank = 0; rank < size; ++rank) {
      const pid_t pid = ::fork();
      if (pid == 0) be_rank({rank, size, rank, "127.0.0.1", port}, work);
      pids_.push_back(pid);
    }
  }
  ~RankProcesses() {
    for (const pid_t pid : pids_) {
      if (pid > 0) ::kill(pid, SIGKILL), ::waitpid(pid, nullptr, 0);
    }
  }
  RankProcesses(const RankProcesses&) = delete;
  RankProcesses& operator=(const RankProcesses&) = delete;

  pid_t pid(int rank) const { return pids_.at(static_cast<std::size_t>(rank)); }
  void send(int rank, int signal) const { ::kill(pid(rank), signal); }

  // The exit code, or -1 if a signal ended it.
  int wait(int rank) {
    int status = 0;
    ::waitpid(pid(rank), &status, 0);
    pids_[static_cast<std::size_t>(rank)] = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

 private:
  // Past everything that the test framework would do at a process' end.
  [[noreturn]] static void be_rank(const RankEnvironment& ranks, const RankWork& work) {
    int code = 0;
    try {
      work(ranks);
    } catch (const std::exception& error) {
      std::fprintf(stderr, "rank %d: %s\n", ranks.rank, error.what());
      code = 1;
    }
    std::fflush(nullptr);
    ::_exit(::testing::Test::HasFailure() ? 2 : code);
  }

  std::vector<pid_t> pids_;
};

// Runs the work on all ranks and expects each to end well.
inline void run_ranks(int size, const RankWork& work) {
  RankProcesses processes(size, work);
  for (int rank = 0; rank < size; ++rank) EXPECT_EQ(processes.wait(rank), 0) << "rank " << rank;
}

}  // namespace krl::libtorch
