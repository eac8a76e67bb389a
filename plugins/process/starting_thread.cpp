#include "plugins/process/starting_thread.hpp"

#include <utility>

namespace krl::process {

StartingThread::StartingThread() : thread_([this] { work(); }) {}

StartingThread::~StartingThread() {
  {
    const std::scoped_lock lock(mutex_);
    ends_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void StartingThread::run(const std::function<void()>& start) {
  std::packaged_task<void()> task(start);
  std::future<void> done = task.get_future();
  {
    const std::scoped_lock lock(mutex_);
    waiting_.push_back(std::move(task));
  }
  changed_.notify_all();
  done.get();
}

void StartingThread::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return ends_ || !waiting_.empty(); });
    if (waiting_.empty()) return;
    std::packaged_task<void()> task = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    task();
    lock.lock();
  }
}

}  // namespace krl::process
