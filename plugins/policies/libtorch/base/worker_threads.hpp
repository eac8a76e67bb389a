// A fixed number of threads that run the same function, each on its share of the work. Owned and
// used by one thread at a time, the caller, which waits for the workers.
#pragma once

#include <atomic>
#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace krl::libtorch {

class WorkerThreads {
 public:
  // Called with the worker's number. Polls `stop` and returns early once it is set.
  using Work = std::function<void(int worker, const std::atomic<bool>& stop)>;
  // Called again and again by the calling thread while it waits, every few milliseconds and
  // after each wake().
  using Tick = std::function<void()>;

  // `count` threads, each of which calls `prepare` once; 0 = one per core that this process may
  // use.
  WorkerThreads(int count, std::function<void()> prepare);
  ~WorkerThreads();
  WorkerThreads(const WorkerThreads&) = delete;
  WorkerThreads& operator=(const WorkerThreads&) = delete;

  int size() const { return static_cast<int>(threads_.size()); }

  // Runs `work` on all workers and returns when all are done. The first exception, of `tick` or
  // else of the worker with the smallest number, stops the others and is thrown here.
  void run(const Work& work, const Tick& tick);

  // [any worker] Makes the waiting caller tick at once.
  void wake();

 private:
  void loop(int worker, const std::function<void()>& prepare);

  std::mutex mutex_;
  std::condition_variable started_, changed_;
  const Work* work_ = nullptr;
  std::uint64_t round_ = 0;
  int running_ = 0;
  bool woken_ = false, closing_ = false;
  std::atomic<bool> stop_{false};
  std::vector<std::exception_ptr> errors_;
  std::vector<std::thread> threads_;
};

}  // namespace krl::libtorch
