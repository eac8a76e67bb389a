#include "plugins/policies/libtorch/base/worker_threads.hpp"

#include <sched.h>

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace krl::libtorch {
namespace {

constexpr std::chrono::milliseconds kTick{10};

int usable_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) == 0) return std::max(1, CPU_COUNT(&set));
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

}  // namespace

WorkerThreads::WorkerThreads(int count, std::function<void()> prepare) {
  const int size = count > 0 ? count : usable_cores();
  errors_.resize(static_cast<std::size_t>(size));
  for (int worker = 0; worker < size; ++worker) {
    threads_.emplace_back([this, worker, prepare] { loop(worker, prepare); });
  }
}

WorkerThreads::~WorkerThreads() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  started_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void WorkerThreads::run(const Work& work, const Tick& tick) {
  std::unique_lock lock(mutex_);
  work_ = &work;
  running_ = size();
  stop_ = false;
  std::fill(errors_.begin(), errors_.end(), nullptr);
  ++round_;
  started_.notify_all();

  std::exception_ptr tick_error;
  while (running_ > 0) {
    changed_.wait_for(lock, kTick, [&] { return running_ == 0 || woken_; });
    woken_ = false;
    if (tick_error) continue;
    lock.unlock();
    try {
      tick();
    } catch (...) {
      tick_error = std::current_exception();
      stop_ = true;
    }
    lock.lock();
  }
  work_ = nullptr;
  if (tick_error) std::rethrow_exception(tick_error);
  for (const std::exception_ptr& error : errors_) {
    if (error) std::rethrow_exception(error);
  }
}

void WorkerThreads::wake() {
  {
    const std::lock_guard lock(mutex_);
    woken_ = true;
  }
  changed_.notify_one();
}

void WorkerThreads::loop(int worker, const std::function<void()>& prepare) {
  prepare();
  std::uint64_t seen = 0;
  std::unique_lock lock(mutex_);
  for (;;) {
    started_.wait(lock, [&] { return closing_ || round_ != seen; });
    if (closing_) return;
    seen = round_;
    const Work& work = *work_;
    lock.unlock();
    std::exception_ptr error;
    try {
      work(worker, stop_);
    } catch (...) {
      error = std::current_exception();
      stop_ = true;
    }
    lock.lock();
    errors_[static_cast<std::size_t>(worker)] = error;
    if (--running_ == 0) changed_.notify_one();
  }
}

}  // namespace krl::libtorch
