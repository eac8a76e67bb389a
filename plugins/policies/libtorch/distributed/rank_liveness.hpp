// Detects lost ranks, and distributes small messages: every rank sends heartbeats to rank 0 on a
// board kept by rank 0, and reads rank 0's messages there. A rank without a heartbeat for the
// time-out (killed, stopped, disconnected), or whose connection breaks, is lost, and with it the
// whole group: there is no recovery. Rank 0 watches all others; they watch rank 0, which tells them
// about each other. Thread-safe.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace krl::libtorch {

// Texts under names, kept by rank 0 for all ranks. Used by one thread at a time.
class RankBoard {
 public:
  virtual ~RankBoard() = default;
  // Both throw a std::exception when rank 0 cannot be reached any more, and may hang when it does
  // not answer. get() waits until there is something under the name.
  virtual void set(const std::string& name, const std::string& text) = 0;
  virtual std::string get(const std::string& name) = 0;
};

class RankLiveness {
 public:
  // `board` is this object's own. `names`: how each rank is called in messages.
  // `on_lost` is called once, on any thread, when the group is lost.
  RankLiveness(std::unique_ptr<RankBoard> board, int rank, std::vector<std::string> names,
               std::chrono::milliseconds timeout, std::function<void()> on_lost);
  // Gives no more signs of life. Where the group is lost, rank 0 first leaves the others the time
  // to read so.
  ~RankLiveness();
  RankLiveness(const RankLiveness&) = delete;
  RankLiveness& operator=(const RankLiveness&) = delete;

  bool lost() const;
  // Describes which rank was lost, and how; empty while none is.
  std::string verdict() const;
  // Like verdict(), after waiting long enough that every loss would have been seen.
  std::string wait_for_verdict() const;
  // Reports a broken connection with `rank`. The first loss counts.
  void report_lost(int rank, const std::string& how);

  // Reports that this rank itself cannot continue: the group is lost, with its name and `why`. On
  // ranks other than 0 it returns when rank 0 has been told, or after the time-out.
  void fail(const std::string& why);

  // Rank 0: the ranks are to end command number `command` early.
  void cancel(std::uint64_t command);
  // The others: the newest command that was cancelled; 0 = none yet.
  std::uint64_t cancelled() const;

 private:
  struct State;
  static void serve_as_first(const std::shared_ptr<State>& state);
  static void serve_as_other(const std::shared_ptr<State>& state);
  static void watch_first(const std::shared_ptr<State>& state);

  // Shared with threads that may hang in a call to a rank 0 that is gone; they are then left
  // behind.
  std::shared_ptr<State> state_;
};

}  // namespace krl::libtorch
