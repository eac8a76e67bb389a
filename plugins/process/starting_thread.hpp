// A thread that starts processes for others. A child set to die with its parent does so when the
// thread that started it ends, whichever thread waits for it; so that thread must outlive the
// child. Thread-safe.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <future>
#include <mutex>
#include <thread>

namespace krl::process {

class StartingThread {
 public:
  StartingThread();
  StartingThread(const StartingThread&) = delete;
  // All processes that it started must have ended by then.
  ~StartingThread();

  // Calls `start` on the thread, waits for it, and passes on its exceptions.
  void run(const std::function<void()>& start);

 private:
  void work();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::packaged_task<void()>> waiting_;
  bool ends_ = false;
  std::thread thread_;
};

}  // namespace krl::process
