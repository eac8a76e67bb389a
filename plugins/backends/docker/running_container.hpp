// One container from start to end, and the commands that run in it. Removed on destruction, and
// when our process dies in any way. Once lost it stays lost. Thread-safe.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "plugins/backends/docker/container_specification.hpp"
#include "plugins/backends/docker/engine/engine.hpp"
#include "plugins/backends/docker/slots.hpp"

namespace krl::docker {

// Started in an empty folder of its own, the only one it can write to, as a separate user. HOME
// and TMPDIR name that folder.
struct ContainerCommand {
  std::vector<std::string> arguments;    // the first is the program's absolute path
  std::vector<std::string> environment;  // "NAME=value", alongside the image's
  std::string input;
  std::chrono::milliseconds time_limit{30'000};
  OutputLimits output_limits;
};

struct CommandResult {
  enum End {
    kExited,
    kTimedOut,
    kOutOfMemory,    // the container's memory; some process of the command was killed for it
    kTooMuchOutput,  // more than output_limits.out_bytes
  } end = kExited;
  int exit_code = -1;  // only if exited; 126 and 127: it could not be started, see `out`
  std::string out, err;

  bool ok() const { return end == kExited && exit_code == 0; }
};

class RunningContainer {
 public:
  // Throws EngineFailure if it cannot be started. `engine` must outlive this.
  RunningContainer(const Engine& engine, const ContainerSettings& settings,
                   const std::string& image_id);
  RunningContainer(RunningContainer&&) = delete;
  ~RunningContainer();

  // Waits for a free place, runs the command, kills all that is left of it and empties its folder;
  // when this returns no process of it lives. Throws Failure: KRL_CANCELLED; KRL_UNAVAILABLE if the
  // container or Docker failed it, or if it ran out of memory when other commands ran alongside it,
  // so that it may have been their doing. If the command was not even started since the container
  // was gone, that is an EngineFailure with gone().
  CommandResult run(const ContainerCommand& command, const std::function<bool()>& cancelled);

  bool lost() const { return lost_; }
  const std::string& name() const { return name_; }

 private:
  struct Sweep {
    bool clean;       // the place is as new
    bool dead;        // no process of the command lives
    std::string why;  // it is not clean
  };

  ExecRequest exec_in(int slot, const std::vector<std::string>& arguments) const;
  std::string begin(int slot, const ContainerCommand& command);
  CommandResult watch(const std::string& exec, const ContainerCommand& command,
                      const std::function<bool()>& cancelled) const;
  // Kills what is left of a command and empties its folder. If that fails, the container is given
  // up with all that runs in it.
  Sweep sweep(int slot, const std::string& exec);
  bool try_sweep(int slot, const Patience& patience);
  bool give_up() noexcept;  // true if the container is removed

  const Engine& engine_;
  const ContainerIdentity identity_;
  const std::string name_;
  Slots slots_;
  std::atomic<bool> lost_{false};
  std::atomic<std::int64_t> memory_kills_{0};  // the kernel's kills in this container so far
  std::optional<http::Stream> lifeline_;       // its input: the container ends with it
};

}  // namespace krl::docker
