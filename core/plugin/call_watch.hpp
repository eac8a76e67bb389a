// Says which call into a plugin takes unusually long, so that a run that stands still says why.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <string_view>
#include <thread>

#include "core/plugin/active_call.hpp"

namespace krl {

// How long calls of each function usually take at most; the default is that of usual_limit().
using CallLimit = std::function<std::chrono::milliseconds(std::string_view function)>;

// Zero: any time. Half a minute for what computes little; minutes for what loads, samples, learns
// or evaluates; any time for what lasts as long as requests come.
std::chrono::milliseconds usual_limit(std::string_view function);

// One at a time, while components are created and used; no process may be forked meanwhile but by
// plugins. Its thread sleeps for as long as no call can be due.
class CallWatch {
 public:
  // "reward 'x' (score) has been running for 30 s (plugin NAME VERSION, FILE)", after the limit and
  // whenever the time has doubled.
  using Notice = std::function<void(const std::string&)>;

  // `notice` is called on the watch's own thread.
  explicit CallWatch(Notice notice, CallLimit limit = usual_limit);
  CallWatch(const CallWatch&) = delete;
  CallWatch& operator=(const CallWatch&) = delete;

 private:
  void watch(const std::stop_token& stop);

  const Notice notice_;
  const CallLimit limit_;
  std::jthread thread_;  // ends before what it uses
};

}  // namespace krl
