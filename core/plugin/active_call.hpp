// The plugin calls in progress: the attribution of a crash, exit or hang.
//
// Every call into a plugin goes through `enter`. Thread-safe.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <exception>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "core/base/text.hpp"
#include "core/plugin/component.hpp"

namespace krl::core {

// The component or file whose function is called. The texts outlive the call.
struct Callee {
  std::string_view file;
  std::string_view kind = {}, id = {}, plugin = {}, version = {};  // empty while it is loaded
};
Callee callee_of(const Component& component);

// One call, in progress on this thread for as long as the object lives. If the plugin has forked
// and the child returns to the host, the child reports it and ends: the run is the parent's.
class ActiveCall {
 public:
  using Clock = std::chrono::steady_clock;

  ActiveCall(const Callee& callee, std::string_view function);
  ActiveCall(const ActiveCall&) = delete;
  ActiveCall& operator=(const ActiveCall&) = delete;
  ~ActiveCall();

  std::string_view function() const { return function_; }
  std::string_view file() const { return callee_.file; }
  Clock::time_point began() const { return began_; }

  // Append "reward 'x' (score)", or "plugin FILE (dlopen)" while it is being loaded; and the rest
  // for the end of a sentence, " (plugin NAME VERSION, FILE)". Signal-safe.
  void add_name(FixedText& text) const;
  void add_plugin(FixedText& text) const;

  // "reward 'x' (score) has been running for 30 s (plugin NAME VERSION, FILE)", with `before_time`
  // in the middle.
  std::string text(std::string_view before_time) const;

  // Returns the innermost call of this thread; null if there is none. Signal-safe, as is `outer`:
  // the call inside which this one was made.
  static const ActiveCall* of_this_thread();
  const ActiveCall* outer() const { return outer_; }

  // Visits the calls of all threads from the oldest on; none if one begins or ends just now.
  // Signal-safe.
  static void each_if_free(const std::function<void(const ActiveCall&)>& visit);

  int notes = 0;  // notes that CallWatch has made of it

 private:
  const Callee callee_;
  const std::string_view function_;
  const Clock::time_point began_;
  const pid_t process_;
  ActiveCall* const outer_;
};

// "reward 'x' (score) for 12 s (plugin NAME VERSION, FILE)", one text for each call: for a program
// that was asked to stop, the calls it still waits for.
std::vector<std::string> calls_under_way();

// Calls `function`, the plugin's, and returns its exception as text.
template <class Function>
std::optional<std::string> enter(const Callee& callee, std::string_view name,
                                 const Function& function) {
  const ActiveCall call(callee, name);
  try {
    function();
    return std::nullopt;
  } catch (const std::exception& e) {
    return e.what();
  } catch (...) {
    return "something that is not a std::exception";
  }
}

// Returns how long calls of a function usually take at most; the default is usual_limit().
using CallLimit = std::function<std::chrono::milliseconds(std::string_view function)>;

// Returns zero for any time. The limit is half a minute for calls that compute little; minutes for
// those that load, sample, learn or evaluate; none for those that last as long as requests come.
std::chrono::milliseconds usual_limit(std::string_view function);

// Reports plugin calls that take unusually long, so that a stalled run is explained. There is one
// at a time, while components are created and used; only plugins may fork processes meanwhile. Its
// thread sleeps for as long as no call can be due.
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
  std::jthread thread_;  // ends before the members that it uses
};

}  // namespace krl::core
