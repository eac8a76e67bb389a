// State shared by all calls on one instance of the backend. Thread-safe.
#pragma once

#include <mutex>
#include <string>
#include <vector>

#include "http/base/loop.hpp"
#include "plugins/backends/remote/judging_call.hpp"

namespace krl::remote {

class Engine {
 public:
  // Waits until a server can judge. Throws krl::Failure (Fleet::start).
  Engine(Settings settings, const std::function<bool()>& cancelled);
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  ServerInfo info();

  // Throws krl::Failure (JudgingCall::judge).
  Judged judge(const Wanted& wanted, const Patience& patience);

  // Returns the news of the servers since the last call, for the log.
  std::vector<std::string> take_notes();

 private:
  http::Loop loop_;  // the first, as all that runs on it ends before
  const Settings settings_;
  std::mutex mutex_;  // guards `notes_`
  std::vector<std::string> notes_;
  Fleet fleet_;  // used on the loop's thread
};

}  // namespace krl::remote
