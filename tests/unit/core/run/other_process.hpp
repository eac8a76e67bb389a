// Another process that has a run open, until it is told to end or is killed.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <stdexcept>

#include "core/run/run_directory.hpp"

namespace krl::test {
using namespace core;

class OtherProcess {
 public:
  explicit OtherProcess(const std::filesystem::path& run) {
    int ready[2], stop[2];
    if (::pipe(ready) != 0 || ::pipe(stop) != 0) throw std::runtime_error("no pipes");
    process_ = ::fork();
    if (process_ == 0) {
      const auto directory = RunDirectory::open(run, OpenMode::kResume);
      ::close(stop[1]);
      char byte = directory ? 'y' : 'n';
      if (::write(ready[1], &byte, 1) == 1) static_cast<void>(::read(stop[0], &byte, 1));
      ::_exit(0);
    }
    ::close(ready[1]);
    ::close(stop[0]);
    stop_ = stop[1];
    char byte = 0;
    opened_ = ::read(ready[0], &byte, 1) == 1 && byte == 'y';
    ::close(ready[0]);
  }
  OtherProcess(const OtherProcess&) = delete;
  OtherProcess& operator=(const OtherProcess&) = delete;
  ~OtherProcess() {
    ::close(stop_);
    wait();
  }

  bool opened() const { return opened_; }
  pid_t process() const { return process_; }

  void kill() {
    ::kill(process_, SIGKILL);
    wait();
  }

  // The signal that ended it, or 0.
  int wait() {
    if (process_ == 0) return 0;
    int status = 0;
    ::waitpid(process_, &status, 0);
    process_ = 0;
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  }

 private:
  pid_t process_ = 0;
  int stop_ = -1;
  bool opened_ = false;
};

}  // namespace krl::test
