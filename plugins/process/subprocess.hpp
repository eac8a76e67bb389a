// A child process from start to end: exec'd (never a bare fork, since the host has many threads),
// in a separate process group that is killed as a whole, with only the descriptors passed to it.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "plugins/process/shared_memory.hpp"

namespace krl::process {

struct Command {
  std::vector<std::string> arguments;    // the first is the program's absolute path
  std::vector<std::string> environment;  // "NAME=value"; nothing is inherited
  // Ours and the number it gets in the child. 0, 1 and 2 are /dev/null unless named here.
  std::vector<std::pair<int, int>> descriptors;
};

// The way a child process ended.
struct Ending {
  int exit_code = -1;     // -1: it was killed
  int signal = 0;         // the signal that killed it; 0: none did
  bool deadline = false;  // we killed it, its time was over
  bool asleep = false;    // we killed it: it waited for something other than a processor
  bool cancelled = false;
  double cpu_seconds = 0;  // includes children that it waited for
  double wall_seconds = 0;

  bool ok() const { return exit_code == 0; }
  // "ended with code 2", "was killed by signal 9 (Killed)", …
  std::string description() const;
};

// A worker's time is its processor's: limits count that. On a crowded machine it may take this many
// times longer by the clock before it is killed for that alone.
inline constexpr int kWallSlack = 4;

// A process that only computes has no reason to sleep; reading its programs from a slow disk takes
// less.
inline constexpr std::chrono::milliseconds kMostSleep{5'000};

// Returns how much of `wall`, the time since its start, a single-threaded process neither ran nor
// waited for a processor; 0 if Linux does not report it.
std::chrono::nanoseconds time_asleep(pid_t process, std::chrono::nanoseconds wall);

// A running child. Killed with its whole group when this dies. Used by one thread at a time.
class Subprocess {
 public:
  // Throws Failure(KRL_UNAVAILABLE) if it cannot be started.
  explicit Subprocess(const Command& command);
  Subprocess(Subprocess&&) = delete;
  ~Subprocess();

  pid_t id() const { return id_; }
  bool running();
  // Kills the group; the ending is then known.
  void kill();
  // Stops all threads of the group, until it is resumed or killed.
  void pause();
  void resume();
  // Waits until the child ends, kills it `limit` after its start or as soon as `cancelled` returns
  // true, and once it has slept for `most_sleep`: for children of one thread without children of
  // theirs.
  Ending wait(std::chrono::milliseconds limit, const std::function<bool()>& cancelled = {},
              std::optional<std::chrono::milliseconds> most_sleep = std::nullopt);

 private:
  bool reap(bool block);
  pid_t id_ = -1;
  Descriptor handle_;  // a pidfd, readable once the child has ended
  std::chrono::steady_clock::time_point start_;
  std::optional<Ending> ending_;
};

}  // namespace krl::process
