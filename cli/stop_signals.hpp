// Turns signals into requests. The first SIGINT or SIGTERM asks the run to stop after its step, the
// second to stop at once, and the third ends the process. A hang-up of the terminal, or output that
// nobody reads any more, asks as the first one does, however often it comes: a closed terminal
// sends several. What is ignored, as under nohup, stays ignored. One object at a time; main thread.
#pragma once

#include <atomic>
#include <functional>
#include <thread>

namespace krl::cli {

// The first signal came, the terminal or the reader of the output is gone, or the second signal
// came; or the process is still running seconds after the second, and again whenever that time has
// doubled.
enum class StopNews { kFirst, kHangUp, kSecond, kStillRunning };

class StopSignals {
 public:
  // Called at once, on a thread of its own.
  using Told = std::function<void(StopNews)>;

  explicit StopSignals(Told told = {});  // takes the signals over
  ~StopSignals();                        // restores them
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  // Returns once `told` knows of every signal that came; later ones are not told.
  void settle();

  // Both live as long as the process.
  static const std::atomic<bool>& stop();
  static const std::atomic<bool>& cancel();

 private:
  int read_end_ = -1, write_end_ = -1;  // pipe from the handler to the notifying thread
  std::thread teller_;
};

}  // namespace krl::cli
