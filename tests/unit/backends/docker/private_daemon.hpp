// A Docker daemon of the test's own, with its own folders and socket, that touches neither the
// machine's daemon nor its network. Stops with the object, or with the test's process.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "plugins/process/subprocess.hpp"

namespace krl::docker::testing {

class PrivateDaemon {
 public:
  // Why no daemon can be started here, "skipped: …"; empty if one can.
  static std::string obstacle();

  // Throws std::runtime_error with the end of the daemon's log if it does not come up.
  PrivateDaemon();
  ~PrivateDaemon();

  std::string socket() const { return folder_ / "socket"; }
  // SIGTERM, and waits for the end.
  void stop();

 private:
  std::string last_words() const;

  std::filesystem::path folder_;
  std::unique_ptr<process::Subprocess> process_;
};

}  // namespace krl::docker::testing
