// SIGINT and SIGTERM as wishes: the first asks the run to stop after its step, the second to stop
// at once, the third ends the process. One object at a time; main thread.
#pragma once

#include <atomic>
#include <functional>
#include <thread>

namespace krl::cli {

// What became of a wish: the first signal came, the second; seconds after it, and whenever that
// time has doubled, the process still runs.
enum class StopNews { kFirst, kSecond, kStillRunning };

class StopSignals {
 public:
  // Called at once, on a thread of its own.
  using Told = std::function<void(StopNews)>;

  explicit StopSignals(Told told = {});  // takes the signals over
  ~StopSignals();                        // gives them back
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  // Both live as long as the process.
  static const std::atomic<bool>& stop();
  static const std::atomic<bool>& cancel();

 private:
  std::thread teller_;
};

}  // namespace krl::cli
