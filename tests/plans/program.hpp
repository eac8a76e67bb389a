// kernelrl as a process of its own, for tests that kill it, interrupt it, or read what it says.
// Movable handle of one process; one thread.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace krl::test {

// How a process ended, and everything it wrote to both of its streams.
struct Ending {
  int exit_code = -1;  // -1: a signal ended it
  int signal = 0;
  std::string output;
};

class Program {
 public:
  // Starts `kernelrl words…` in `folder`. A test has one at a time in one folder.
  Program(const std::vector<std::string>& words, const std::filesystem::path& folder);
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  ~Program();  // kills it if it still runs

  pid_t id() const { return id_; }

  // Looks again and again until `condition` holds; false if the process ended before.
  bool wait_until(const std::function<bool()>& condition);

  // What it has written so far.
  std::string output() const;

  void send(int signal) const;
  Ending wait();

 private:
  bool running();

  pid_t id_ = -1;
  bool ended_ = false;
  int status_ = 0;
  std::filesystem::path output_;
};

// Starts it and waits for its end.
Ending run_program(const std::vector<std::string>& words, const std::filesystem::path& folder);

}  // namespace krl::test
